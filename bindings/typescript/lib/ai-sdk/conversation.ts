/** A conversation of the AI SDK in a store of forklore. */
import { randomUUID } from "node:crypto";

import type { ModelMessage, UIMessage } from "ai";

import { AlreadyExistsError, invalid } from "../errors.js";
import { CONVERSATION } from "../events.js";
import { type Head, Line } from "../line.js";
import { Queue } from "../queue.js";
import { type Entry, rewrite } from "../rewrite.js";
import type { Store } from "../store.js";
import type { EventLine, Record as Message } from "../types.js";
import { exact, plain } from "./exact.js";
import { eventsOf, foreign, MODEL, OTHER, written } from "./model.js";
import { Answers, eventOf, SHOWN } from "./ui.js";

const MARKS = [MODEL, SHOWN];
const TYPES = new Set([...CONVERSATION, OTHER]);

/** What a conversation is opened with. */
export interface ConversationOptions {
  /** The store that has the conversation. */
  store: Store;
  /** The session that has the conversation, whichever agent began it. By default, a new one. */
  sessionId?: string;
  /** The folder that the conversation belongs to. By default, the current folder. */
  workspace?: string;
}

/**
 * A conversation of the AI SDK in a store of forklore.
 *
 * Save what the SDK has, either the messages of models (`ModelMessage`) or those that people see
 * (`UIMessage`), and read it back exactly. The tools' calls and results are forklore's own, so the other
 * agents read them, and so does the other kind of messages.
 *
 * ```ts
 * const conversation = new Conversation({ store, sessionId: "trip-42" });
 * await conversation.append([{ role: "user", content: "Plan a trip to Oslo" }]);
 * const { response } = await generateText({ model, messages: await conversation.modelMessages() });
 * await conversation.append(response.messages);
 * ```
 */
export class Conversation {
  /** The session in which the conversation began. */
  readonly sessionId: string;
  readonly store: Store;
  readonly #workspace: string;
  readonly #line: Line;
  readonly #queue = new Queue();

  constructor({ store, sessionId = randomUUID(), workspace = process.cwd() }: ConversationOptions) {
    this.store = store;
    this.sessionId = sessionId;
    this.#workspace = workspace;
    this.#line = new Line(store, {
      start: sessionId,
      generation: 0,
      pointer: "x.ai_sdk.moved",
      marks: MARKS,
      begin: () => this.#begin(),
      next: () => `${sessionId}.h-${randomUUID().replaceAll("-", "").slice(0, 16)}`,
      header: () => ({}),
    });
  }

  /** Appends messages of models: all of them, or none if the call fails. */
  async append(messages: readonly ModelMessage[]): Promise<void> {
    const events = messages.flatMap(eventsOf);
    if (events.length > 0) {
      await this.#queue.run(() => this.#line.append(events));
    }
  }

  /** Returns the conversation as messages of models. */
  modelMessages(): Promise<ModelMessage[]> {
    return this.#queue.run(async () => {
      const entries = await this.#models();
      return entries.map(({ message }) => exact(message) as unknown as ModelMessage);
    });
  }

  /**
   * Saves the messages that people see, which are all that the conversation has from now on. What it had
   * and the messages do not have is not lost: the conversation goes on in a fork.
   */
  async save(messages: readonly UIMessage[]): Promise<void> {
    const saved = messages.map((message) => plain(message) as unknown as Fields);
    await this.#queue.run(() =>
      this.#line.change(async () => {
        const entries = await this.#shown();
        await rewrite(this.#line, entries, saved, (one) => [eventOf(one as unknown as UIMessage)]);
      }),
    );
  }

  /** Returns the conversation as messages that people see. */
  uiMessages(): Promise<UIMessage[]> {
    return this.#queue.run(async () => {
      const entries = await this.#shown();
      return entries.map(({ message }) => exact(message) as unknown as UIMessage);
    });
  }

  /** Forks the conversation after its first `count` messages of models. Without it, at its end. */
  fork(count?: number, sessionId?: string): Promise<Conversation> {
    return this.#queue.run(async () => {
      const head = await this.#line.begun();
      const entries = count === undefined ? [] : await this.#models();
      if (count !== undefined && !(Number.isInteger(count) && count >= 0 && count <= entries.length)) {
        throw invalid(`the conversation has ${entries.length} messages, and ${count} are to remain`);
      }
      const after = count === undefined ? undefined : entries[count];
      const cut = after === undefined ? `seq:${head.seq}` : `seq:${after.seq - 1}`;
      const forked = await this.store.fork({
        parent_session_id: head.sessionId,
        at: count === 0 || head.seq < 0 ? "start" : cut,
        id: sessionId ?? null,
        must_be_new: true,
        tool_calls: "verbatim",
      });
      const id = forked.child_session_id;
      return new Conversation({ store: this.store, sessionId: id, workspace: this.#workspace });
    });
  }

  /** Returns the session in which the conversation goes on, if it has begun. */
  forkloreSessionId(): Promise<string | undefined> {
    return this.#queue.run(async () => (await this.#line.head())?.sessionId);
  }

  async #begin(): Promise<void> {
    try {
      await this.store.new({ id: this.sessionId, workspace: this.#workspace });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) {
        throw error;
      }
      // Another writer created it, or it was deleted, which this throws.
      await this.store.show({ session_id: this.sessionId });
    }
  }

  async #models(): Promise<Entry<Fields>[]> {
    const entries: { seq: number; message: Fields }[] = [];
    for (const { event, message } of await this.#read(MODEL)) {
      const own = written(event);
      const last = entries.at(-1)?.message;
      if (own?.joins === true && last !== undefined) {
        last["content"] = [...(last["content"] as unknown[]), ...(own.message["content"] as unknown[])];
      } else {
        const found = own === undefined ? message && foreign(message) : [own.message];
        entries.push(...(found ?? []).map((one) => ({ seq: event.seq, message: one })));
      }
    }
    return entries;
  }

  async #shown(): Promise<Entry<Fields>[]> {
    const answers = new Answers();
    for (const { event, message } of await this.#read(SHOWN)) {
      const own = (event.data as Fields | null)?.[SHOWN] as (Fields & { parts: Fields[] }) | undefined;
      if (own !== undefined) {
        answers.end();
        answers.messages.push({ seq: event.seq, message: own });
      } else if (message !== undefined) {
        answers.add(message);
      }
    }
    return answers.messages;
  }

  /** Returns the events of the conversation. Those without a field have their message. */
  async #read(field: string): Promise<{ event: EventLine; message: Message | undefined }[]> {
    const head = await this.#line.head();
    const events = head === undefined ? [] : await this.#events(head);
    const others = events.filter((event) => !Object.hasOwn(Object(event.data) as object, field));
    const messages = new Map<number, Message>();
    const [first, last] = [others[0], others.at(-1)];
    if (head !== undefined && first !== undefined && last !== undefined) {
      const part = { from: `seq:${first.seq}`, up_to: `seq:${last.seq}` };
      for await (const message of this.store.replay({ session_id: head.sessionId, ...part })) {
        messages.set(message.seq, message);
      }
    }
    return events.map((event) => ({ event, message: messages.get(event.seq) }));
  }

  async #events(head: Head): Promise<EventLine[]> {
    const events: EventLine[] = [];
    for await (const event of this.#line.events(head, 0)) {
      if (TYPES.has(event.type)) {
        events.push(event);
      }
    }
    return events;
  }
}

type Fields = Record<string, unknown>;
