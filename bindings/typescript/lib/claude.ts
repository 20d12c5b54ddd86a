/**
 * The session store for the Claude Agent SDK.
 *
 * The SDK passes each record that Claude Code writes on to a session store, and resumes sessions from it.
 * With {@link ForkloreSessionStore}, such a session is at once a session of forklore: a tree whose branches
 * and sub-agents can be searched, compared and forked with every verb of a store.
 *
 * @module
 */
import { randomUUID } from "node:crypto";

import {
  foldSessionSummary,
  type ForkSessionResult,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
  type SessionSummaryEntry,
} from "@anthropic-ai/claude-agent-sdk";

import { invalid } from "./errors.js";
import { stringify } from "./json.js";
import { addon, type ClaudeSessions, type Folded } from "./native.js";
import { Queue } from "./queue.js";
import { callsOf, type Store } from "./store.js";

type Project = Pick<SessionKey, "projectKey" | "sessionId">;
type Data = Record<string, unknown>;

/** What a session store is made with. */
export interface ForkloreSessionStoreOptions {
  /**
   * Whether {@link ForkloreSessionStore.delete} erases sessions at once. Otherwise they go into the trash,
   * from which `undelete` brings them back for 30 days.
   */
  erase?: boolean;
  /** The folder of sessions whose records name none. By default, the current one. */
  workspace?: string;
}

/** Where a fork of a session begins, and its title. */
export interface ForkOptions {
  /** The last message that the fork inherits. By default, the last of the session. */
  upToMessageId?: string;
  /** The title of the fork. By default that of the session, with `(fork)` behind it. */
  title?: string;
}

/**
 * A session store of the Claude Agent SDK over a store of forklore.
 *
 * Processes may share the store. An append is stored completely or not at all, in the order of the calls.
 * A record with the `uuid` and the content of a stored one is not stored again.
 *
 * ```ts
 * const sessionStore = new ForkloreSessionStore(await Store.open("sqlite:sessions.db"));
 * for await (const message of query({ prompt, options: { sessionStore } })) { ... }
 * ```
 */
export class ForkloreSessionStore implements SessionStore {
  /** The store, for all other verbs. */
  readonly store: Store;
  readonly #erase: boolean;
  readonly #call: <T>(call: (core: ClaudeSessions) => Promise<T>) => Promise<T>;
  readonly #queues = new Map<string, Queue>();

  constructor(store: Store, options: ForkloreSessionStoreOptions = {}) {
    this.store = store;
    this.#erase = options.erase ?? false;
    const workspace = options.workspace ?? process.cwd();
    this.#call = callsOf(store, (connection) => new addon.ClaudeSessions(connection, workspace));
  }

  /** Adds records to a transcript. */
  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    // The entries are the caller's again when this call returns.
    const lines = entries.map(lineOf);
    if (lines.length === 0) {
      return;
    }
    const name = named(key);
    await this.#queueOf(name).run(async () => {
      const folded = name.subpath === undefined ? await this.#folded(name, lines) : undefined;
      await this.#call((core) => core.append(name, lines, folded));
    });
  }

  /**
   * Returns the records of a transcript as they were appended, or `null` if there is none. The records of a
   * fork begin with the history that it inherits.
   */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const text = await this.#call((core) => core.load(named(key)));
    return text === null ? null : (JSON.parse(text) as SessionStoreEntry[]);
  }

  /** Lists the sessions of a project, and when each was last changed. */
  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const found = await this.#call((core) => core.sessions(projectKey));
    return found.map(({ name: sessionId, modified: mtime }) => ({ sessionId, mtime }));
  }

  /** Returns the summaries of all sessions of a project. */
  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const found = await this.#call((core) => core.sessions(projectKey));
    const summaries: SessionSummaryEntry[] = [];
    for (const { name: sessionId, modified: mtime, summary } of found) {
      // An import, or a program in another language, may have added records without a summary.
      const text = summary ?? (await this.#foldedAnew({ projectKey, sessionId }));
      summaries.push({ sessionId, mtime, data: dataOf(text) });
    }
    return summaries;
  }

  /** Deletes a transcript; that of a session together with those of its sub-agents. Forks remain. */
  async delete(key: SessionKey): Promise<void> {
    await this.#call((core) => core.delete(named(key), this.#erase));
  }

  /** Lists the transcripts of the sub-agents of a session. */
  async listSubkeys(key: Project): Promise<string[]> {
    const found = await this.#call((core) => core.subAgents(named(key)));
    return found.map((one) => one.name);
  }

  /**
   * Forks a session. The fork shares the history, so the time does not depend on its length. The SDK's
   * `forkSession` copies each message with a new `uuid`; here the messages retain theirs.
   */
  async fork(key: Project, options: ForkOptions = {}): Promise<ForkSessionResult> {
    const sessionId = randomUUID();
    const name = named(key);
    const before = (await this.#call((core) => core.summary(name))) ?? null;
    const given = options.title?.trim();
    const title = given || `${titleOf(before) ?? "Forked session"} (fork)`;
    const marks = [
      { type: "custom-title", customTitle: title },
      { type: "tag", tag: "" },
    ];
    const fork = { ...name, sessionId };
    // Without a summary of the original, that of the fork is made when it is listed.
    const summary = before === null ? undefined : summaryOf(fork, before, marks);
    const { upToMessageId } = options;
    await this.#call((core) => core.fork(name, sessionId, upToMessageId, title, summary));
    return { sessionId };
  }

  /**
   * Returns the id of a transcript's session, for the verbs of {@link store}: if the transcript has
   * branches, the one that Claude Code would resume.
   */
  async forkloreSessionId(key: SessionKey): Promise<string | undefined> {
    return (await this.#call((core) => core.session(named(key)))) ?? undefined;
  }

  /** Returns the summary of a session with further records, and what it was made from. */
  async #folded(name: SessionKey, lines: readonly string[]): Promise<Folded> {
    const added = lines.map((line) => JSON.parse(line) as SessionStoreEntry);
    const before = (await this.#call((core) => core.summary(name))) ?? undefined;
    if (before !== undefined) {
      return { before, after: summaryOf(name, before, added) };
    }
    const stored = (await this.load(name)) ?? [];
    return { after: summaryOf(name, null, [...stored, ...added]) };
  }

  async #foldedAnew(name: SessionKey): Promise<string> {
    return summaryOf(name, null, (await this.load(name)) ?? []);
  }

  #queueOf({ projectKey, sessionId, subpath }: SessionKey): Queue {
    const name = JSON.stringify([projectKey, sessionId, subpath]);
    const queue = this.#queues.get(name) ?? new Queue();
    this.#queues.set(name, queue);
    return queue;
  }
}

function named({ projectKey, sessionId, subpath }: SessionKey): SessionKey {
  return subpath ? { projectKey, sessionId, subpath } : { projectKey, sessionId };
}

/** Returns a record as Claude Code writes it: one line. */
function lineOf(entry: SessionStoreEntry): string {
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) {
    throw invalid("a record is a JSON object");
  }
  return stringify(entry, "record");
}

function summaryOf(key: SessionKey, before: string | null, added: SessionStoreEntry[]): string {
  const { sessionId } = key;
  const previous = before === null ? undefined : { sessionId, mtime: 0, data: dataOf(before) };
  const { data } = foldSessionSummary(previous, key, added);
  return JSON.stringify(renamed(data, (name) => name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)));
}

/**
 * Returns the data of a stored summary. It is stored with the names of the SDK for Python, whose summaries
 * are the same except for the names.
 */
function dataOf(text: string): Data {
  const stored = JSON.parse(text) as Data;
  return renamed(stored, (name) => name.replace(/_([a-z])/g, (_, one: string) => one.toUpperCase()));
}

function renamed(data: Data, name: (field: string) => string): Data {
  return Object.fromEntries(Object.entries(data).map(([field, value]) => [name(field), value]));
}

/** Returns the title from which that of a fork is made, in the order of the SDK. */
function titleOf(summary: string | null): string | undefined {
  const data = dataOf(summary ?? "{}");
  const names = ["customTitle", "aiTitle", "firstPrompt", "commandFallback"];
  const found = names.map((name) => data[name]).find((title) => typeof title === "string" && title);
  return found as string | undefined;
}
