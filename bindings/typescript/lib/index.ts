/**
 * Sessions of AI agents that fork.
 *
 * A session is an append-only log of events. A fork is another continuation of a session: it shares the
 * history, so it costs the same whatever the history is.
 *
 * ```ts
 * import { Store, assistant, user } from "forklore";
 *
 * await using store = await Store.open("sqlite:sessions.db");
 * const { session } = await store.new({ workspace: "/work/demo" });
 * await store.append({ session_id: session.id, batch: { events: [user("plan A or plan B?")] } });
 * const fork = await store.fork({ parent_session_id: session.id });
 * await store.append({
 *   session_id: fork.child_session_id,
 *   batch: { events: [assistant("plan B")] },
 * });
 * console.log((await store.diff({ a: session.id, b: fork.child_session_id })).only_b);
 * ```
 *
 * Faces for agent frameworks are modules of their own, such as `forklore/openai-agents`.
 *
 * @module
 */
export * from "./errors.js";
export {
  assistant,
  event,
  system,
  toolCall,
  toolResult,
  user,
  type Envelope,
  type MessageContent,
} from "./events.js";
export { VERSION } from "./native.js";
export { Store } from "./store.js";
export { SyncStore, type SyncVerbs } from "./sync.js";
export type * as types from "./types.js";
