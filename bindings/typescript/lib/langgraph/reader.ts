/** Makes checkpoints of what the core answers. */
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";

import { ConflictError } from "../errors.js";
import type { LangGraph } from "../native.js";
import { type Codec, GONE } from "./codec.js";
import { configOf, type Thread } from "./thread.js";

/** How often a thread is read again that was dropped from memory between two calls. */
const TRIES = 8;

/** Calls the core. */
export type Call = <T>(call: (core: LangGraph) => Promise<T>) => Promise<T>;

/** The writes of a channel back to a stored value. */
export interface ChannelHistory {
  writes: CheckpointPendingWrite[];
  seed?: unknown;
}

type Value = { text: unknown } | Runs;
interface Runs {
  prefix: number;
  runs: [first: number, count: number][];
}
interface Found {
  id: string;
  parent?: string;
  fields: { v: number; ts: string };
  metadata: CheckpointMetadata;
  versions: Checkpoint["channel_versions"];
  seen: Checkpoint["versions_seen"];
  values: Record<string, Value>;
  writes: CheckpointPendingWrite[];
}
interface Answer {
  generation: number;
  tuples: Found[];
}
interface HistoryAnswer {
  generation: number;
  channels?: Record<string, { writes: CheckpointPendingWrite[]; seed?: Value | null }>;
}
/** The elements of lists, by their numbers. */
type Objects = Map<number, unknown>;

/** Reads checkpoints with one serializer. */
export class Reader {
  readonly codec: Codec;
  readonly #call: Call;

  constructor(call: Call, codec: Codec) {
    this.#call = call;
    this.codec = codec;
  }

  /** Returns checkpoints of a thread by their ids, or the newest one. */
  read(thread: Thread, ids: readonly string[] | null): Promise<CheckpointTuple[]> {
    return retried(async () => {
      const request = JSON.stringify({ thread, ids });
      const answer = await this.#decoded<Answer>(
        thread,
        await this.#call((core) => core.get(request)),
      );
      const numbers = numbersOf(answer.tuples);
      const wanted = new Set(numbers.flatMap((lists) => [...lists.values()].flat()));
      const objects = await this.#objects(thread, answer.generation, [...wanted]);
      return answer.tuples.map((found, at) => tupleOf(thread, found, numbers[at]!, objects));
    });
  }

  /** Returns the writes from which the values of channels are computed. */
  history(
    thread: Thread,
    id: string | null,
    channels: readonly string[],
  ): Promise<Record<string, ChannelHistory>> {
    return retried(async () => {
      const request = JSON.stringify({ thread, id, channels });
      const text = await this.#call((core) => core.history(request));
      const answer = await this.#decoded<HistoryAnswer>(thread, text);
      const found = channels.map(async (channel): Promise<[string, ChannelHistory]> => {
        const { writes = [], seed } = answer.channels?.[channel] ?? {};
        const value = seed && (await this.#valueOf(thread, answer.generation, seed));
        return [channel, seed ? { writes, seed: value } : { writes }];
      });
      return Object.fromEntries(await Promise.all(found));
    });
  }

  async #valueOf(thread: Thread, generation: number, value: Value): Promise<unknown> {
    if ("text" in value) {
      return value.text;
    }
    const numbers = expanded(value, []);
    return listOf(numbers, await this.#objects(thread, generation, numbers));
  }

  async #decoded<T>(thread: Thread, text: string): Promise<T> {
    return (await this.codec.decode(text, async (keys) => {
      const request = JSON.stringify({ thread, generation: 0, keys });
      const [, trees] = JSON.parse(await this.#call((core) => core.elements(request))) as [
        unknown[],
        unknown[],
      ];
      return trees;
    })) as T;
  }

  /** Returns elements of lists, without those that were redacted. */
  async #objects(thread: Thread, generation: number, numbers: number[]): Promise<Objects> {
    if (numbers.length === 0) {
      return new Map();
    }
    const request = JSON.stringify({ thread, generation, numbers });
    const text = await this.#call((core) => core.elements(request));
    const [elements] = await this.#decoded<[unknown[]]>(thread, text);
    const pairs = numbers.map((number, at): [number, unknown] => [number, elements[at]]);
    return new Map(pairs.filter(([, element]) => element !== GONE));
  }
}

async function retried<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === TRIES) {
        throw error;
      }
    }
  }
}

/** Returns the numbers of the elements of each list. A list may begin like that of the tuple before. */
function numbersOf(tuples: readonly Found[]): Map<string, number[]>[] {
  let before = new Map<string, number[]>();
  return tuples.map(({ values }) => {
    const lists = Object.entries(values).flatMap(([name, value]): [string, number[]][] =>
      "runs" in value ? [[name, expanded(value, before.get(name) ?? [])]] : [],
    );
    before = new Map(lists);
    return before;
  });
}

function expanded({ prefix, runs }: Runs, before: readonly number[]): number[] {
  const numbers = before.slice(0, prefix);
  for (const [first, count] of runs) {
    for (let number = first; number < first + count; number += 1) {
      numbers.push(number);
    }
  }
  return numbers;
}

function listOf(numbers: readonly number[], objects: Objects): unknown[] {
  return numbers.filter((number) => objects.has(number)).map((number) => objects.get(number));
}

function tupleOf(
  thread: Thread,
  found: Found,
  lists: Map<string, number[]>,
  objects: Objects,
): CheckpointTuple {
  const values = Object.entries(found.values).map(([name, value]) => {
    const numbers = lists.get(name);
    return [name, numbers ? listOf(numbers, objects) : (value as { text: unknown }).text];
  });
  const { parent } = found;
  return {
    config: configOf(thread, found.id),
    checkpoint: {
      ...found.fields,
      id: found.id,
      channel_values: Object.fromEntries(values) as Checkpoint["channel_values"],
      channel_versions: found.versions,
      versions_seen: found.seen,
    },
    metadata: found.metadata,
    pendingWrites: found.writes,
    ...(parent === undefined ? {} : { parentConfig: configOf(thread, parent) }),
  };
}
