/** Work in the order in which it was requested. */

/** Runs pieces of work one after the other. Work that fails lets the next one begin. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs work after all earlier work, and returns its result. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
