/**
 * Which session of forklore has a session of ak-coder.
 *
 * ak-coder has a folder of sessions for each workspace, and forklore has one store for all. An id of
 * ak-coder is the id of the session, unless another workspace uses it or it is no id of forklore: then a
 * hash names the session.
 */
import { createHash, randomBytes } from "node:crypto";

import { ForkloreError } from "../errors.js";
import type { Store } from "../store.js";
import { FIELD } from "./messages.js";

/** The most bytes of an id. */
const LONGEST = 235;
const MOVED = /\.h-[0-9a-f]{16}$/;

/** Names the sessions of one workspace. */
export class Ids {
  readonly store: Store;
  readonly workspace: string;

  constructor(store: Store, workspace: string) {
    this.store = store;
    this.workspace = workspace;
  }

  /** Returns the session of forklore that has a session, or that would have it. */
  async start(sessionId: string): Promise<string> {
    try {
      const { session } = await this.store.show({ session_id: sessionId });
      return session.workspace === this.workspace ? sessionId : this.#hashed(sessionId);
    } catch (error) {
      if (error instanceof ForkloreError && error.kind === "not_found") {
        return sessionId;
      }
      if (error instanceof ForkloreError && error.kind === "invalid_args") {
        return this.#hashed(sessionId);
      }
      throw error;
    }
  }

  #hashed(sessionId: string): string {
    return `ak-${hash(`${this.workspace}\n${sessionId}`, 32)}`;
  }
}

/** Returns an id for the session in which one goes on. */
export function next(start: string): string {
  return `${start}.h-${randomBytes(8).toString("hex")}`;
}

/** Returns the metadata of a session. */
export function metadata(sessionId: string): Record<string, unknown> {
  return { [FIELD]: { session: sessionId } };
}

/** Returns the id in ak-coder of a session of forklore. */
export function nameOf(session: { id: string; metadata?: unknown }): string {
  const named = session.metadata as { [FIELD]?: { session: string } } | null | undefined;
  return named?.[FIELD]?.session ?? session.id.replace(MOVED, "");
}

/** Returns ids for a fork, each with a later time: `fork-<original>-<milliseconds>`. */
export function* forkNames(original: string): Generator<string, never> {
  for (let time = Date.now(); ; time += 1) {
    const name = `fork-${original}-${time}`;
    yield Buffer.byteLength(name) <= LONGEST ? name : `fork-${hash(original, 16)}-${time}`;
  }
}

function hash(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
