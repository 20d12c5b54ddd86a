/** The values of a checkpoint as the core takes them. */
import { type Codec, type Element, isList } from "./codec.js";
import { commonPrefix, type Lists } from "./lists.js";
import type { Thread } from "./thread.js";

/** Collects the values of one checkpoint. */
export class Values {
  readonly #codec: Codec;
  readonly #lists: Lists;
  readonly #thread: Thread;
  readonly #values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  readonly #elements = new Map<string, Element>();
  readonly #keys = new Map<string, string[]>();

  constructor(codec: Codec, lists: Lists, thread: Thread) {
    this.#codec = codec;
    this.#lists = lists;
    this.#thread = thread;
  }

  /** Adds the value of a channel as that of the parent. */
  inherit(channel: string): void {
    this.#values[channel] = {};
  }

  /** Adds the value of a channel. A list is relative to the stored one, unless it must be whole. */
  async give(channel: string, value: unknown, isWhole: boolean): Promise<void> {
    if (!isList(value)) {
      this.#values[channel] = { text: await this.#codec.encode(value, this.#elements) };
      return;
    }
    const stored = isWhole ? undefined : this.#lists.get(this.#name(channel));
    const elements = new Map<string, Element>();
    const keys: string[] = [];
    for (const one of value) {
      keys.push(await this.#codec.element(one, elements));
    }
    const same = stored === undefined ? 0 : commonPrefix(keys, stored.keys);
    const add = keys.slice(same);
    add.forEach((key) => this.#elements.set(key, elements.get(key)!));
    const base = stored === undefined ? null : [stored.checkpointId, same];
    this.#keys.set(channel, keys);
    this.#values[channel] = { list: { base, add } };
  }

  /** Returns the fields of the request. */
  fields(): { values: unknown; elements: unknown } {
    return { values: this.#values, elements: elementsOf(this.#elements) };
  }

  /** Remembers the lists after they were stored. */
  remember(checkpointId: string): void {
    for (const [channel, keys] of this.#keys) {
      this.#lists.set(this.#name(channel), { checkpointId, keys });
    }
  }

  #name(channel: string): string {
    const { thread_id: id, checkpoint_ns: namespace } = this.#thread;
    return JSON.stringify([id, namespace, channel]);
  }
}

/** Returns elements as the core takes them. */
export function elementsOf(elements: ReadonlyMap<string, Element>): unknown[] {
  return Array.from(elements.values(), ({ kind, tree }) => ({ kind, text: tree }));
}
