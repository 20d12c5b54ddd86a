/** The threads and checkpoints that configurations name. */
import type { RunnableConfig } from "@langchain/core/runnables";

import { invalid } from "../errors.js";

/** A thread with a namespace, as the core names it. */
export interface Thread {
  thread_id: string;
  checkpoint_ns: string;
}

/** Returns the thread that a configuration names. */
export function threadOf(config: RunnableConfig): Thread {
  const { thread_id: id, checkpoint_ns: namespace = "" } = named(config);
  if (typeof id !== "string" && typeof id !== "number") {
    throw invalid('a thread has an id: the field "thread_id" of "configurable"');
  }
  return { thread_id: String(id), checkpoint_ns: String(namespace) };
}

/** Returns the id of the checkpoint that a configuration names. */
export function checkpointOf(config: RunnableConfig): string | undefined {
  const { checkpoint_id: id, thread_ts: older } = named(config);
  const found = id || older;
  return found ? String(found) : undefined;
}

/** Returns what a configuration names. */
export function named(config: RunnableConfig): Record<string, unknown> {
  return (config.configurable ?? {}) as Record<string, unknown>;
}

/** Returns the configuration that names a checkpoint. */
export function configOf(thread: Thread, checkpointId: string): RunnableConfig {
  return { configurable: { ...thread, checkpoint_id: checkpointId } };
}
