/** The saver that LangGraph gets. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";

import { ConflictError, invalid } from "../errors.js";
import { addon } from "../native.js";
import { callsOf, type Store } from "../store.js";
import { Codec, type Element } from "./codec.js";
import { Lists } from "./lists.js";
import { type Call, Reader } from "./reader.js";
import { checkpointOf, configOf, named, threadOf, type Thread } from "./thread.js";
import { elementsOf, Values } from "./values.js";

/** How many checkpoints are read at once. */
const PAGE = 64;
/** Since this version, a checkpoint has the tasks that were sent in it. */
const HAS_TASKS = 4;

/** What a saver is made with. */
export interface ForkloreSaverOptions {
  /**
   * The serializer of what JSON does not have. With another one than `JsonPlusSerializer`, such as one
   * that encrypts, messages are no events of the conversation.
   */
  serde?: SerializerProtocol;
  /** The folder to which the sessions belong. By default, the current one. */
  workspace?: string;
}

/**
 * Stores the checkpoints of LangGraph in a store of forklore.
 *
 * A thread is a session, and a checkpoint is an event of it. A checkpoint whose parent is not the newest
 * one begins a fork, and a copy of a thread is a fork: both cost the same however long the thread is. The
 * messages are events of the conversation, which `tree`, `diff` and `search` read.
 *
 * ```ts
 * const checkpointer = new ForkloreSaver(await Store.open("sqlite:sessions.db"));
 * const graph = builder.compile({ checkpointer });
 * ```
 */
export class ForkloreSaver extends BaseCheckpointSaver {
  /** The store with the sessions of all threads, which the saver does not close. */
  readonly store: Store;
  readonly #call: Call;
  readonly #lists = new Lists();
  #made: Reader | undefined;

  constructor(store: Store, options: ForkloreSaverOptions = {}) {
    super(options.serde);
    this.store = store;
    const workspace = options.workspace ?? process.cwd();
    this.#call = callsOf(store, (connection) => new addon.LangGraph(connection, workspace));
  }

  /** Returns the checkpoint that the configuration names, or the newest one of its thread. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (named(config)["thread_id"] === undefined) {
      return undefined;
    }
    const id = checkpointOf(config);
    const found = await this.#read(threadOf(config), id === undefined ? null : [id]);
    return found[0];
  }

  /** Returns the checkpoints that match, the newest first in each thread. */
  async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { filter, before, limit } = options;
    const { thread_id: id, checkpoint_ns: namespace } = named(config);
    const request = {
      thread_id: id === undefined ? null : String(id),
      namespace: namespace === undefined ? null : String(namespace),
      id: checkpointOf(config) ?? null,
      before: before === undefined ? null : (checkpointOf(before) ?? null),
      limit: filter === undefined && limit !== undefined ? Math.max(limit, 0) : null,
    };
    const text = await this.#call((core) => core.list(JSON.stringify(request)));
    let left = limit ?? Infinity;
    for (const [thread_id, checkpoint_ns, ids] of JSON.parse(text) as [string, string, string[]][]) {
      for (let first = 0; first < ids.length && left > 0; first += PAGE) {
        const part = await this.#read({ thread_id, checkpoint_ns }, ids.slice(first, first + PAGE));
        for (const found of part.filter((one) => matches(one, filter)).slice(0, left)) {
          left -= 1;
          yield found;
        }
      }
    }
  }

  /**
   * Stores a checkpoint. If its parent is not the newest one, it begins a fork. A value whose channel is
   * not in `newVersions` is that of the parent, and a first checkpoint does not have it.
   */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const thread = threadOf(config);
    const parent = checkpointOf(config) ?? null;
    const { codec } = this.#reader;
    const { id, channel_values: channels, channel_versions, versions_seen, ...fields } = checkpoint;
    const head = {
      thread,
      id,
      parent,
      fields: await codec.encodeOpen(fields),
      metadata: await codec.encodeOpen(metadata),
      versions: channel_versions,
      seen: versions_seen,
    };
    const given = new Set(Object.keys(channels).filter((name) => Object.hasOwn(newVersions, name)));
    const whole = new Set<string>();
    for (;;) {
      const values = new Values(codec, this.#lists, thread);
      for (const [name, value] of Object.entries(channels)) {
        if (given.has(name)) {
          await values.give(name, value, whole.has(name));
        } else if (parent !== null) {
          values.inherit(name);
        }
      }
      const request = JSON.stringify({ ...head, ...values.fields() });
      const answer = JSON.parse(await this.#call((core) => core.put(request))) as Put;
      const needs = answer.needs ?? [];
      if (needs.length === 0) {
        values.remember(id);
        return configOf(thread, id);
      }
      if (needs.every((name) => whole.has(name))) {
        throw new ConflictError("conflict", "the values of channels could not be stored");
      }
      // What was given builds on a list that is not there any more.
      needs.filter((name) => given.has(name)).forEach((name) => whole.add(name));
      needs.forEach((name) => given.add(name));
    }
  }

  /** Stores what a task wrote after a checkpoint. */
  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const checkpoint = checkpointOf(config);
    if (checkpoint === undefined) {
      throw invalid("writes belong to a checkpoint, and the configuration names none");
    }
    const { codec } = this.#reader;
    const elements = new Map<string, Element>();
    const encoded: unknown[] = [];
    for (const [at, [channel, value]] of writes.entries()) {
      const index = WRITES_IDX_MAP[channel] ?? at;
      encoded.push({ index, channel, text: await codec.encode(value, elements) });
    }
    const request = JSON.stringify({
      thread: threadOf(config),
      checkpoint,
      task: taskId,
      path: taskPath,
      writes: encoded,
      elements: elementsOf(elements),
    });
    await this.#call((core) => core.putWrites(request));
  }

  /** Returns the writes from which the values of channels are computed, back to a stored value. */
  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { config, channels } = options;
    const id = checkpointOf(config) ?? null;
    const found = this.#reader.history(threadOf(config), id, channels);
    return found as Promise<Record<string, DeltaChannelHistory>>;
  }

  /** Deletes a thread: its sessions go into the trash. Copies of it remain. */
  async deleteThread(threadId: string): Promise<void> {
    await this.#call((core) => core.deleteThread(String(threadId)));
  }

  /** Copies a thread. The copy is a fork: it costs the same however long the thread is. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    await this.#call((core) => core.copyThread(String(sourceThreadId), String(targetThreadId)));
  }

  /** Removes all checkpoints of threads but the newest ones. */
  async prune(threadIds: readonly string[]): Promise<void> {
    for (const threadId of threadIds) {
      await this.#call((core) => core.prune(String(threadId)));
    }
  }

  /** Removes the checkpoints of runs, by `run_id` in their metadata. */
  async deleteForRuns(runIds: readonly string[]): Promise<void> {
    await this.#call((core) => core.deleteForRuns(runIds.map(String)));
  }

  get #reader(): Reader {
    // LangGraph and its users may give a saver another serializer.
    if (this.#made?.codec.serde !== this.serde) {
      this.#made = new Reader(this.#call, new Codec(this.serde));
    }
    return this.#made!;
  }

  async #read(thread: Thread, ids: readonly string[] | null): Promise<CheckpointTuple[]> {
    const found = await this.#reader.read(thread, ids);
    await Promise.all(found.map((one) => this.#addTasks(thread, one)));
    return found;
  }

  /** Adds the tasks that an older checkpoint has in the writes of its parent. */
  async #addTasks(thread: Thread, { checkpoint, parentConfig }: CheckpointTuple): Promise<void> {
    const parent = parentConfig && checkpointOf(parentConfig);
    if (checkpoint.v >= HAS_TASKS || parent === undefined) {
      return;
    }
    const [before] = await this.#reader.read(thread, [parent]);
    const sent = (before?.pendingWrites ?? []).filter(([, channel]) => channel === TASKS);
    checkpoint.channel_values[TASKS] = sent.map(([, , task]) => task);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

interface Put {
  /** The channels whose values must be given whole. */
  needs?: string[];
}

function matches({ metadata }: CheckpointTuple, filter: Record<string, unknown> = {}): boolean {
  const found = (metadata ?? {}) as Record<string, unknown>;
  return Object.entries(filter).every(([name, value]) => found[name] === value);
}
