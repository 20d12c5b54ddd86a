/** A store whose verbs return promises. */
import { failure, invalid } from "./errors.js";
import { encode } from "./json.js";
import { addon, type Connection, type Rows } from "./native.js";
import { Verbs } from "./verbs.js";

/** How many items of a long answer are read at once. */
export const PAGE = 256;

/** Runs a call of the addon on the connection of a store, for which `close` waits. */
let run: <T>(store: Store, call: (connection: Connection) => Promise<T>) => Promise<T>;

/** Returns a function that calls a core of the addon. The first call makes the core. */
export function callsOf<C>(
  store: Store,
  make: (connection: Connection) => C,
): <T>(call: (core: C) => Promise<T>) => Promise<T> {
  let core: C | undefined;
  return (call) =>
    run(store, async (connection) => {
      core ??= make(connection);
      return call(core);
    });
}

/**
 * An open store, whose verbs return promises and never block the event loop.
 *
 * The work is done in the threads of libuv, of which a process has 4 unless `UV_THREADPOOL_SIZE` says
 * otherwise. Other processes may open the same store.
 *
 * ```ts
 * await using store = await Store.open("sqlite:sessions.db");
 * const { session } = await store.new({ workspace: "/work/demo" });
 * ```
 */
export class Store extends Verbs implements AsyncDisposable {
  readonly #connection: Connection;
  #running = 0;
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  static {
    run = (store, call) => store.#run(call);
  }

  private constructor(connection: Connection) {
    super();
    this.#connection = connection;
  }

  /**
   * Opens a store, and creates it if it does not exist.
   *
   * `url` is `sqlite:PATH`, `files:DIR`, `postgres://...`, `https://...` or `memory:`. A path without
   * a scheme is an SQLite file. Without a URL, opens the store of the program `forklore`.
   */
  static async open(url?: string): Promise<Store> {
    try {
      return new Store(await addon.open(url));
    } catch (error) {
      throw failure(error);
    }
  }

  /** The kind and the location of the store, without a password. */
  get location(): string {
    return this.#connection.location;
  }

  /** Closes the store. Running calls end first, and later ones fail. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => (this.#idle = resolve));
    }
    await this.#connection.close();
  }

  protected override async call<T>(verb: string, request: object): Promise<T> {
    const json = encode(verb, request);
    return JSON.parse(await this.#run((connection) => connection.call(json))) as T;
  }

  protected override async *rows<T>(verb: string, request: object): AsyncGenerator<T, undefined> {
    const json = encode(verb, request);
    const rows = await this.#run((connection) => connection.rows(json));
    try {
      let items: T[];
      do {
        items = await this.#page(rows);
        yield* items;
      } while (items.length > 0);
    } finally {
      rows.release();
    }
    return undefined;
  }

  async #page<T>(rows: Rows): Promise<T[]> {
    return JSON.parse(await this.#run(() => rows.page(PAGE))) as T[];
  }

  protected override async send<T>(
    verb: string,
    request: object,
    content: Uint8Array,
  ): Promise<T> {
    const json = encode(verb, request);
    checkBytes(content);
    return JSON.parse(await this.#run((connection) => connection.send(json, content))) as T;
  }

  protected override async receive(verb: string, request: object): Promise<Uint8Array> {
    const json = encode(verb, request);
    return this.#run((connection) => connection.receive(json));
  }

  /** Runs a call of the addon, for which {@link close} waits. */
  async #run<T>(call: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) {
      throw invalid("the store was closed", {}, "open the store again");
    }
    this.#running += 1;
    try {
      return await call(this.#connection);
    } catch (error) {
      throw failure(error);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) {
        this.#idle?.();
      }
    }
  }
}

/** Refuses what is no array of bytes. */
export function checkBytes(content: unknown): void {
  if (!(content instanceof Uint8Array)) {
    throw invalid("the content is a Uint8Array");
  }
}
