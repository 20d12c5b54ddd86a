/** The lists of channels as they were stored last, so that the next one is stored as what it adds. */

/** How many lists are in memory. Those that were not used for long are dropped. */
const MOST_LISTS = 256;

/** A list as it is stored with a checkpoint. */
export interface StoredList {
  readonly checkpointId: string;
  /** The keys of its elements. */
  readonly keys: readonly string[];
}

/** The last list of each channel. */
export class Lists {
  readonly #lists = new Map<string, StoredList>();

  /** Returns the last list of a channel. */
  get(channel: string): StoredList | undefined {
    return this.#lists.get(channel);
  }

  /** Remembers the last list of a channel. */
  set(channel: string, stored: StoredList): void {
    this.#lists.delete(channel);
    this.#lists.set(channel, stored);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_LISTS && oldest !== undefined) {
      this.#lists.delete(oldest);
    }
  }
}

/** Returns how many keys at the beginning of two lists are equal. */
export function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) {
    same += 1;
  }
  return same;
}
