/** Sessions of ak-coder in a store of forklore. */
import { AlreadyExistsError, invalid, NotFoundError } from "../errors.js";
import { stringify } from "../json.js";
import { type Head, Line } from "../line.js";
import { Queue } from "../queue.js";
import { type Entry, rewrite } from "../rewrite.js";
import type { Store } from "../store.js";
import { recordOf, USAGE, usageOf } from "./calls.js";
import { forkNames, Ids, metadata, nameOf, next } from "./ids.js";
import { eventOf, FIELD, read } from "./messages.js";
import type { ChatMessage, ListedSession, LLMCallRecord, SessionStore } from "./port.js";

/** A session as it was read last. */
interface Opened {
  readonly line: Line;
  readonly queue: Queue;
  entries: Entry<ChatMessage>[];
  head: Head | undefined;
}

/**
 * ak-coder's port for sessions over a store of forklore.
 *
 * A fork shares the history with its original, and costs the same whatever its length. What a save no
 * longer has, because ak-coder rewound the session or summarised it, is not lost: the session goes on in
 * a fork at the last message that both have. All methods see the sessions of one workspace only.
 *
 * ```ts
 * const sessions = new AkCoderSessions(await Store.open());
 * const core = new AgentCore(fs, llm, sessions, logger, runner, terminal, workspace);
 * ```
 */
export class AkCoderSessions implements SessionStore {
  readonly store: Store;
  readonly workspace: string;
  readonly #ids: Ids;
  readonly #opened = new Map<string, Opened>();

  /** Uses a store. The sessions belong to the folder `workspace`, by default the current one. */
  constructor(store: Store, workspace: string = process.cwd()) {
    this.store = store;
    this.workspace = workspace;
    this.#ids = new Ids(store, workspace);
  }

  /** Saves the messages of a session, which are all that it has from now on. */
  async saveSession(sessionId: string, messages: ChatMessage[]): Promise<void> {
    const saved = messages.map((one) => JSON.parse(stringify(one, "message")) as ChatMessage);
    await this.#in(sessionId, (opened) => this.#save(opened, saved));
  }

  /** Returns the messages of a session. */
  async loadSession(sessionId: string): Promise<ChatMessage[]> {
    const entries = await this.#in(sessionId, (opened) => this.#existing(opened, sessionId));
    return entries.map((entry) => structuredClone(entry.message));
  }

  /** Lists the sessions of the workspace, the latest first. */
  async listSessions(): Promise<ListedSession[]> {
    const times = new Map<string, number>();
    for (const session of await this.#sessions()) {
      const name = nameOf(session);
      times.set(name, Math.max(times.get(name) ?? 0, Date.parse(session.updated)));
    }
    const listed = [...times].map(([sessionId, timestamp]) => ({ sessionId, timestamp }));
    return listed.sort((a, b) => b.timestamp - a.timestamp);
  }

  /**
   * Forks a session after the message with the index `turnIndex`, and returns the id of the fork. Without
   * a new id, it is `fork-<original>-<milliseconds>`.
   */
  async fork(sessionId: string, turnIndex: number, newSessionId?: string): Promise<string> {
    const at = await this.#cut(sessionId, turnIndex);
    if (newSessionId !== undefined) {
      await this.#fork(at, newSessionId);
      return newSessionId;
    }
    for (const name of forkNames(sessionId)) {
      try {
        await this.#fork(at, name);
        return name;
      } catch (error) {
        if (!(error instanceof AlreadyExistsError)) {
          throw error;
        }
      }
    }
    throw new AlreadyExistsError("already_exists", "every id is in use");
  }

  /** Forks a session as {@link fork} does, and returns the messages of the fork. */
  async forkSession(
    sessionId: string,
    turnIndex: number,
    newSessionId?: string,
  ): Promise<ChatMessage[]> {
    return this.loadSession(await this.fork(sessionId, turnIndex, newSessionId));
  }

  /** Lets a session go on after its first `count` messages. */
  async truncateSession(sessionId: string, count: number): Promise<void> {
    await this.#in(sessionId, async (opened) => {
      const entries = await this.#existing(opened, sessionId);
      const messages = entries.map((entry) => entry.message);
      await this.#save(opened, messages.slice(0, count));
    });
  }

  /** Records what a call of a model consumed, in the session that called. */
  async recordCall(record: LLMCallRecord): Promise<void> {
    await this.#in(record.sessionId, (opened) =>
      opened.line.change(async () => {
        const entries = await this.#entries(opened);
        const head = await opened.line.begun();
        await opened.line.appendAt(head, [usageOf(record, head, entries)]);
      }),
    );
  }

  /** Returns what all calls of models consumed in the workspace, the earliest first. */
  async getCallRecords(): Promise<LLMCallRecord[]> {
    const histories = new Map<string, Promise<Entry<ChatMessage>[]>>();
    const history = (id: string) => {
      const found = histories.get(id) ?? this.#history(id);
      histories.set(id, found);
      return found;
    };
    const records: LLMCallRecord[] = [];
    for (const { id } of await this.#sessions()) {
      for await (const event of this.store.log({ session_id: id, range: { own: true } })) {
        const record = event.type === USAGE ? await recordOf(event, history) : undefined;
        records.push(...(record === undefined ? [] : [record]));
      }
    }
    return records.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
  }

  async #sessions() {
    const { sessions } = await this.store.list({ workspace: this.workspace, limit: 0 });
    return sessions;
  }

  async #history(id: string): Promise<Entry<ChatMessage>[]> {
    const { session } = await this.store.show({ session_id: id });
    const line = this.#line(id, id);
    return read(line, { sessionId: id, seq: session.head_seq, generation: 0 });
  }

  /** Works on a session, after all earlier work on it. */
  async #in<T>(sessionId: string, work: (opened: Opened) => Promise<T>): Promise<T> {
    const start = await this.#ids.start(sessionId);
    let opened = this.#opened.get(start);
    if (opened === undefined) {
      const line = this.#line(start, sessionId);
      opened = { line, queue: new Queue(), entries: [], head: undefined };
      this.#opened.set(start, opened);
    }
    const found = opened;
    return found.queue.run(() => work(found));
  }

  #line(start: string, sessionId: string): Line {
    const named = metadata(sessionId);
    return new Line(this.store, {
      start,
      generation: 0,
      pointer: "x.ak-coder.moved",
      marks: [FIELD],
      begin: async () => {
        await this.store.new({ id: start, workspace: this.workspace, metadata: named });
      },
      next: () => next(start),
      header: () => ({ metadata: named }),
    });
  }

  /** Returns the messages of a session, of which those that were read before are not read again. */
  async #entries(opened: Opened): Promise<Entry<ChatMessage>[]> {
    const head = await opened.line.head();
    const seen = opened.head;
    if (head === undefined) {
      opened.entries = [];
    } else if (seen?.sessionId !== head.sessionId) {
      opened.entries = await read(opened.line, head);
    } else if (seen.seq < head.seq) {
      opened.entries.push(...(await read(opened.line, head, seen.seq + 1)));
    }
    opened.head = head;
    return opened.entries;
  }

  async #existing(opened: Opened, sessionId: string): Promise<Entry<ChatMessage>[]> {
    const entries = await this.#entries(opened);
    if (opened.head === undefined) {
      const message = `session ${JSON.stringify(sessionId)} does not exist`;
      throw new NotFoundError("not_found", message, { session_id: sessionId });
    }
    return entries;
  }

  async #save(opened: Opened, messages: ChatMessage[]): Promise<void> {
    const { line } = opened;
    await line.change(async () => {
      const entries = await this.#entries(opened);
      await rewrite(line, entries, messages, (one) => [eventOf(one)]);
    });
  }

  /** Returns the session of forklore with a message, and the position after the message. */
  async #cut(sessionId: string, turnIndex: number): Promise<{ head: Head; at: string }> {
    return this.#in(sessionId, async (opened) => {
      const entries = await this.#existing(opened, sessionId);
      const entry = entries[turnIndex];
      if (entry === undefined || opened.head === undefined) {
        const size = entries.length;
        throw invalid(`turn index ${turnIndex} is out of bounds (history size: ${size})`, { size });
      }
      return { head: opened.head, at: `seq:${entry.seq}` };
    });
  }

  async #fork({ head, at }: { head: Head; at: string }, name: string): Promise<void> {
    await this.store.fork({
      parent_session_id: head.sessionId,
      at,
      id: await this.#ids.start(name),
      must_be_new: true,
      tool_calls: "verbatim",
      metadata: metadata(name),
    });
  }
}
