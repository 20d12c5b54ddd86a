/** A store whose verbs block. */
import { failure } from "./errors.js";
import { encode } from "./json.js";
import { addon, type Connection, type Rows } from "./native.js";
import { checkBytes, PAGE } from "./store.js";
import { Verbs } from "./verbs.js";

/** The verbs of a store, each with its answer instead of a promise. */
export type SyncVerbs = {
  [Verb in keyof Verbs]: Verbs[Verb] extends (...request: infer Request) => Promise<infer Answer>
    ? (...request: Request) => Answer
    : Verbs[Verb] extends (...request: infer Request) => AsyncIterableIterator<infer Item>
      ? (...request: Request) => IterableIterator<Item>
      : never;
};

/**
 * An open store, whose verbs block until their work is done.
 *
 * Use it in scripts, in workers, and for small reads of a local store: a verb costs no change of
 * threads. A server uses {@link Store}, whose verbs never block the event loop.
 *
 * ```ts
 * using store = SyncStore.open("sqlite:sessions.db");
 * const { session } = store.new({ workspace: "/work/demo" });
 * ```
 */
export class SyncStore implements Disposable {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Opens a store, and creates it if it does not exist. See {@link Store.open}. */
  static open(url?: string): SyncStore {
    return new SyncStore(attempt(() => addon.openSync(url)));
  }

  /** The kind and the location of the store, without a password. */
  get location(): string {
    return this.#connection.location;
  }

  /** Closes the store. Later calls fail. */
  close(): void {
    this.#connection.closeSync();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  protected call(verb: string, request: object): unknown {
    const json = encode(verb, request);
    return JSON.parse(attempt(() => this.#connection.callSync(json)));
  }

  protected rows(verb: string, request: object): IterableIterator<unknown> {
    const json = encode(verb, request);
    const rows = attempt(() => this.#connection.rowsSync(json));
    return items(rows);
  }

  protected send(verb: string, request: object, content: Uint8Array): unknown {
    const json = encode(verb, request);
    checkBytes(content);
    return JSON.parse(attempt(() => this.#connection.sendSync(json, content)));
  }

  protected receive(verb: string, request: object): Uint8Array {
    const json = encode(verb, request);
    return attempt(() => this.#connection.receiveSync(json));
  }
}

// A method of `Verbs` passes its request on to `call`, `rows`, `send` or `receive`, and returns what that
// returns. So it is the method of this class as well.
export interface SyncStore extends SyncVerbs {}
for (const [name, method] of Object.entries(Object.getOwnPropertyDescriptors(Verbs.prototype))) {
  if (name !== "constructor") {
    Object.defineProperty(SyncStore.prototype, name, method);
  }
}

function* items(rows: Rows): Generator<unknown, undefined> {
  try {
    let found: unknown[];
    do {
      found = JSON.parse(attempt(() => rows.pageSync(PAGE))) as unknown[];
      yield* found;
    } while (found.length > 0);
  } finally {
    rows.release();
  }
  return undefined;
}

function attempt<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw failure(error);
  }
}
