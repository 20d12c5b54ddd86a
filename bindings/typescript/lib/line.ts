/**
 * Where a conversation goes on that its framework rewrites.
 *
 * A log only grows. So when a framework takes messages back or clears a conversation, it goes on in a
 * fork at the earlier position. The last event of the session that it leaves is then a *pointer*, which
 * names the fork:
 *
 * - A pointer is appended with the head that its writer read, as messages are. So of two changes at the
 *   same moment, one is first, and the other finds its result and repeats.
 * - It is stored before the call returns. Every process and every later run finds it.
 * - The session in which the line began gets each later pointer too, so finding the head takes the same
 *   time after any number of moves. If a process dies before it writes that copy, the copy before leads
 *   to a session that ends with a pointer, which leads on.
 * - Pointers are not inherited and no model sees them.
 *
 * The Python package writes and reads the same pointers.
 */
import { AlreadyExistsError, ConflictError, InvalidArgsError, NotFoundError } from "./errors.js";
import type { Store } from "./store.js";
import type { EventLine, NewEvent, Session } from "./types.js";

/** How many events the store appends at once. */
const BATCH = 10_000;
/** How many events at the end of a log are read first to find a pointer. */
const WINDOW = 8;

/** The session in which a line goes on, and its last position that was read. */
export interface Head {
  readonly sessionId: string;
  readonly seq: number;
  /** How often the line was cleared before this session began. */
  readonly generation: number;
}

/** What a pointer says. */
interface Target {
  to: string;
  generation: number;
}

/** What distinguishes the lines of one framework. */
export interface Course {
  /** The session in which the line began. */
  readonly start: string;
  /** The generation with which it began. */
  readonly generation: number;
  /** The type of pointers. */
  readonly pointer: string;
  /** Fields of a payload that show that the framework's own face wrote the event. */
  readonly marks: readonly string[];
  /** Creates the session in which the line begins. Throws if it cannot exist any more. */
  begin(): Promise<void>;
  /** Returns a new id for the session in which the line goes on. */
  next(): string;
  /** Returns the header of that session. */
  header(id: string, generation: number): Header;
}

/** What a fork of a line has in its header. */
export interface Header {
  title?: string;
  label?: string;
  metadata?: unknown;
}

/** A conversation that goes on in one session after another. */
export class Line {
  readonly store: Store;
  readonly course: Course;
  #head: Head | undefined;

  constructor(store: Store, course: Course) {
    this.store = store;
    this.course = course;
  }

  /** Returns where the line goes on, or `undefined` if it does not exist. */
  async head(): Promise<Head | undefined> {
    const { start, generation } = this.course;
    const seen = this.#head;
    this.#head = seen && (await this.#refreshed(seen));
    this.#head ??= await this.#found(start, generation);
    return this.#head;
  }

  /** Returns where the line goes on. Begins it if it does not exist. */
  async begun(): Promise<Head> {
    const head = await this.head();
    if (head !== undefined) {
      return head;
    }
    await this.course.begin();
    const { start, generation } = this.course;
    this.#head = await this.#found(start, generation);
    if (this.#head === undefined) {
      throw new NotFoundError("not_found", `session ${start} does not exist`);
    }
    return this.#head;
  }

  /** Appends events after whatever is there, all or none. */
  append(events: readonly NewEvent[]): Promise<void> {
    return this.change(async () => {
      await this.appendAt(this.#head ?? (await this.begun()), events);
    });
  }

  /** Appends events directly after a head, all or none. */
  async appendAt(head: Head, events: readonly NewEvent[]): Promise<void> {
    if (events.length > BATCH) {
      return this.move(head, "end", events);
    }
    this.#head = await this.#appended(head, events);
  }

  /** Lets the line go on in a fork of its head at an earlier position, with further events. */
  async move(
    head: Head,
    at: string,
    events: readonly NewEvent[],
    generation = head.generation,
  ): Promise<void> {
    let moved = await this.#forked(head, at, generation);
    const pointer = this.#pointer(moved);
    try {
      for (let first = 0; first < events.length; first += BATCH) {
        moved = await this.#appended(moved, events.slice(first, first + BATCH));
      }
      await this.#appended(head, [pointer]);
    } catch (error) {
      await attempt(this.store.delete({ session_id: moved.sessionId }));
      throw error;
    }
    this.#head = moved;
    const { start } = this.course;
    if (head.sessionId !== start) {
      // The line has moved without this copy: the pointers before it lead to the head.
      await attempt(this.store.append({ session_id: start, batch: { events: [pointer] } }));
    }
  }

  /** Repeats a change until no other writer is faster. */
  async change<T>(once: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof ConflictError && "expected" in error.details)) {
          throw error;
        }
        await this.head();
      }
    }
  }

  /** Returns the events of the head from one position to another. */
  async *events(
    { sessionId, seq }: Head,
    from: number,
    to: number = seq,
  ): AsyncGenerator<EventLine, undefined> {
    // An empty log has no position to read to.
    if (to >= from) {
      yield* this.store.log({ session_id: sessionId, range: { from, to } });
    }
    return undefined;
  }

  async #appended(head: Head, events: readonly NewEvent[]): Promise<Head> {
    const batch = { events: [...events], expect: head.seq };
    const { to_seq: seq } = await this.store.append({ session_id: head.sessionId, batch });
    return { ...head, seq };
  }

  #pointer({ sessionId: to, generation }: Head): NewEvent {
    return { type: this.course.pointer, data: { to, generation } satisfies Target };
  }

  async #forked(head: Head, at: string, generation: number): Promise<Head> {
    const id = this.course.next();
    const { label, ...header } = this.course.header(id, generation);
    const fork = (at: string, label: string | null) =>
      this.store.fork({
        parent_session_id: head.sessionId,
        at,
        id,
        must_be_new: true,
        tool_calls: "verbatim",
        label,
        ...header,
      });
    const forked = await fork(at, label ?? null)
      .catch((error: unknown) => {
        const isLabelInUse = error instanceof AlreadyExistsError && "label" in error.details;
        return isLabelInUse ? fork(at, null) : Promise.reject(error as Error);
      })
      .catch((error: unknown) => {
        const isEmpty =
          error instanceof InvalidArgsError && error.details["reason"] === "nothing_to_fork";
        return isEmpty && at !== "start" ? fork("start", null) : Promise.reject(error as Error);
      });
    return { sessionId: id, seq: forked.head_seq, generation };
  }

  async #found(start: string, generation: number): Promise<Head | undefined> {
    let target: Target = { to: start, generation };
    try {
      for (;;) {
        const { session } = await this.store.show({ session_id: target.to });
        const next = await this.#lastPointer(session);
        if (next === undefined) {
          const { id: sessionId, head_seq: seq } = session;
          return { sessionId, seq, generation: target.generation };
        }
        target = next;
      }
    } catch (error) {
      return undefinedIfMissing(error);
    }
  }

  /** Returns the present head, of which an earlier one is given. */
  async #refreshed(head: Head): Promise<Head | undefined> {
    try {
      for await (const event of this.events(head, head.seq + 1, Number.MAX_SAFE_INTEGER)) {
        if (event.type === this.course.pointer) {
          const { to, generation } = event.data as Target;
          return this.#found(to, generation);
        }
        head = { ...head, seq: event.seq };
      }
      return head;
    } catch (error) {
      return undefinedIfMissing(error);
    }
  }

  /**
   * Returns the last pointer of a session. Nothing of the face's own follows a pointer except another.
   * What somebody else appended after it is skipped.
   */
  async #lastPointer(session: Session): Promise<Target | undefined> {
    const oldest = session.head_seq - session.own_events + 1;
    let window = WINDOW;
    for (let last = session.head_seq; last >= oldest; ) {
      const from = Math.max(oldest, last - window + 1);
      const part: EventLine[] = [];
      const range = { from, to: last };
      for await (const event of this.store.log({ session_id: session.id, range })) {
        part.push(event);
      }
      for (const event of part.reverse()) {
        if (event.type === this.course.pointer) {
          return event.data as Target;
        }
        if (hasMark(event.data, this.course.marks)) {
          return undefined;
        }
      }
      last = from - 1;
      window *= 8;
    }
    return undefined;
  }
}

/** Returns the position before an event, as a cut. */
export function before(seq: number): string {
  return seq > 0 ? `seq:${seq - 1}` : "start";
}

/** Whether a payload has one of the fields that mark a face's own events. */
export function hasMark(data: unknown, marks: readonly string[]): boolean {
  return data !== null && typeof data === "object" && marks.some((mark) => Object.hasOwn(data, mark));
}

/** Waits for a call that may fail. */
async function attempt(call: Promise<unknown>): Promise<void> {
  await call.catch(() => undefined);
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) {
    throw error;
  }
}
