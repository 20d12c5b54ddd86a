/** The session that the OpenAI Agents SDK gets. */
import { randomUUID } from "node:crypto";

import type { AgentInputItem, Session } from "@openai/agents-core";

import { AlreadyExistsError, invalid, NotFoundError } from "../errors.js";
import { before, Line } from "../line.js";
import { Queue } from "../queue.js";
import type { Store } from "../store.js";
import { Ids, MAIN } from "./ids.js";
import { eventOf } from "./items.js";
import { entries, lastEntries, MARKS } from "./reading.js";

/** What a session is opened with. */
export interface ForkloreSessionOptions {
  /** The store that has the session. */
  store: Store;
  /**
   * The id of the conversation: any text. If it is the id of a session of forklore, in lower case, the
   * conversation goes on in that session, whichever agent wrote it. By default, a new id.
   */
  sessionId?: string;
  /** The branch of the conversation. By default, `main`. */
  branch?: string;
  /** The folder that the conversation belongs to. By default, the current folder. */
  workspace?: string;
}

/**
 * A conversation of the OpenAI Agents SDK in a store of forklore, with branches.
 *
 * Each branch is a session of forklore: it shares the history with its parent, and making it costs the
 * same whatever the history is. Nothing is ever removed by {@link popItem} and {@link clearSession}: the
 * branch goes on in a fork at the earlier position. Several objects and processes may use the same
 * conversation at once.
 *
 * ```ts
 * const session = new ForkloreSession({ store, sessionId: "trip-42" });
 * await run(agent, "Plan a trip to Oslo", { session });
 * const cheaper = await session.fork(1, "cheaper");
 * await run(agent, "Plan a cheap trip to Oslo", { session: cheaper });
 * ```
 */
export class ForkloreSession implements Session {
  /** The branch of this object. */
  readonly branch: string;
  /** The store, whose verbs work on the branches too, by {@link forkloreSessionId}. */
  readonly store: Store;
  readonly #ids: Ids;
  readonly #workspace: string;
  readonly #main: Line;
  readonly #queue = new Queue();
  #line: Line | undefined;

  constructor(options: ForkloreSessionOptions) {
    const { store, sessionId = randomUUID(), branch = MAIN } = options;
    if (sessionId === "" || branch.trim() === "") {
      throw invalid("a session and a branch have a name");
    }
    this.store = store;
    this.branch = branch;
    this.#ids = new Ids(sessionId);
    this.#workspace = options.workspace ?? process.cwd();
    this.#main = this.#lineOf(MAIN, 0);
    this.#line = branch === MAIN ? this.#main : undefined;
  }

  /** Returns the id of the conversation. */
  getSessionId(): Promise<string> {
    return Promise.resolve(this.#ids.sessionId);
  }

  /** Returns the items of the branch, or its last `limit` items. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#queue.run(async () => {
      const line = await this.#current();
      const head = await line.head();
      if (head === undefined || (limit !== undefined && limit <= 0)) {
        return [];
      }
      const found = await (limit === undefined
        ? entries(line, head)
        : lastEntries(line, head, limit));
      const items = found.flatMap((entry) => entry.items);
      return limit === undefined ? items : items.slice(-limit);
    });
  }

  /** Adds items to the branch: all of them, or none if the call fails. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const events = items.map(eventOf);
    if (events.length > 0) {
      await this.#queue.run(async () => (await this.#current()).append(events));
    }
  }

  /** Takes the last item of the branch back, and returns it. */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#change(async (line) => {
      const head = await line.head();
      const last = head && (await lastEntries(line, head, 1)).at(-1);
      if (last === undefined) {
        return undefined;
      }
      await line.move(head!, before(last.seq), last.items.slice(0, -1).map(eventOf));
      return last.items.at(-1);
    });
  }

  /**
   * Lets the conversation go on empty. Its other branches are no longer part of it; their names remain
   * in use.
   */
  clearSession(): Promise<void> {
    return this.#queue.run(() =>
      this.#main.change(async () => {
        const head = await this.#main.head();
        if (head !== undefined) {
          await this.#main.move(head, "start", [], head.generation + 1);
        }
      }),
    );
  }

  /** Lets the branch go on with other items: a compaction, and what follows it. */
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const events = items.map(eventOf);
    return this.#change(async (line) => line.move(await line.begun(), "start", events));
  }

  /**
   * Creates a branch that has what is before a turn, and returns it. Turns are counted from 1: the first
   * message of a person begins the first.
   */
  fork(turn: number, name: string): Promise<ForkloreSession> {
    return this.#queue.run(async () => {
      const line = await this.#current();
      const head = await line.head();
      if (head === undefined) {
        throw new NotFoundError("not_found", `branch ${this.branch} has no items`);
      }
      const start = this.#ids.start(name);
      const seq = await firstOfTurn(this.store, head.sessionId, turn);
      if (name === MAIN) {
        throw new AlreadyExistsError("already_exists", "every conversation has this branch");
      }
      const fork = { parent_session_id: head.sessionId, id: start, must_be_new: true } as const;
      const header = this.#ids.header(name, start, head.generation);
      const at = turn === 1 ? "start" : before(seq);
      await this.store.fork({ ...fork, at, tool_calls: "verbatim", ...header });
      return this.#branched(name);
    });
  }

  /** Returns the session of forklore in which the branch goes on, if the branch has items. */
  forkloreSessionId(): Promise<string | undefined> {
    return this.#queue.run(async () => (await (await this.#current()).head())?.sessionId);
  }

  #branched(branch: string): ForkloreSession {
    const { sessionId } = this.#ids;
    return new ForkloreSession({ store: this.store, sessionId, branch, workspace: this.#workspace });
  }

  #change<T>(once: (line: Line) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const line = await this.#current();
      return line.change(() => once(line));
    });
  }

  /** Returns the line of the branch. Throws if the branch was deleted, or the conversation cleared. */
  async #current(): Promise<Line> {
    if (this.branch === MAIN) {
      return this.#main;
    }
    const start = this.#ids.start(this.branch);
    const { session } = await this.store.show({ session_id: start });
    const { generation } = (session.metadata as Metadata).openai_agents;
    if ((await this.#main.head())?.generation !== generation) {
      const message = `the conversation was cleared after branch ${this.branch} was made`;
      throw new NotFoundError("not_found", message, { branch: this.branch });
    }
    this.#line ??= this.#lineOf(this.branch, generation);
    return this.#line;
  }

  #lineOf(branch: string, generation: number): Line {
    const ids = this.#ids;
    return new Line(this.store, {
      start: ids.start(branch),
      generation,
      pointer: "x.openai.moved",
      marks: MARKS,
      begin: () => this.#begin(),
      next: () => ids.next(branch),
      header: (id, next) => ids.header(branch, id, next),
    });
  }

  /** Creates the session in which the conversation begins. */
  async #begin(): Promise<void> {
    const { root: id } = this.#ids;
    const { title, metadata } = this.#ids.header(MAIN, id, 0);
    try {
      await this.store.new({ id, title, metadata, workspace: this.#workspace });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) {
        throw error;
      }
      // Another writer created it, or it was deleted, which this throws.
      await this.store.show({ session_id: id });
    }
  }
}

interface Metadata {
  openai_agents: { generation: number };
}

/** Returns the position of the message with which a turn begins. */
async function firstOfTurn(store: Store, sessionId: string, turn: number): Promise<number> {
  const selector = `turn:${turn}`;
  const part = { from: selector, up_to: selector };
  for await (const message of store.replay({ session_id: sessionId, ...part })) {
    return message.seq;
  }
  throw invalid(`there is no turn ${turn}`);
}
