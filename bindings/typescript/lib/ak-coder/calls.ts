/**
 * What calls of models consumed, as `provider_usage` events, so that `stats` counts them.
 *
 * A prompt is mostly the history of its session. A message of the history is recorded as its index there.
 */
import type { Head } from "../line.js";
import type { Entry } from "../rewrite.js";
import type { EventLine, NewEvent } from "../types.js";
import { FIELD } from "./messages.js";
import type { ChatMessage, LLMCallRecord } from "./port.js";

/** The type of the events. */
export const USAGE = "provider_usage";

/** A record whose prompt refers to the history of a session. */
interface StoredCall extends Omit<LLMCallRecord, "prompt"> {
  history: string;
  prompt: (number | ChatMessage)[];
}

/** Returns the event of a record. `entries` is the history at `head`. */
export function usageOf(record: LLMCallRecord, head: Head, entries: readonly Entry<ChatMessage>[]): NewEvent {
  const indexes = new Map(entries.map(({ message }, at) => [JSON.stringify(message), at]));
  const prompt = record.prompt.map((one) => indexes.get(JSON.stringify(one)) ?? one);
  const { inputTokens: input, outputTokens: output, cost, model } = record;
  const stored: StoredCall = { ...record, history: head.sessionId, prompt };
  return { type: USAGE, data: { input, output, cost, model, [FIELD]: stored } };
}

/** Returns the record of an event. `history` returns the messages of a session of forklore. */
export async function recordOf(
  event: EventLine,
  history: (sessionId: string) => Promise<readonly Entry<ChatMessage>[]>,
): Promise<LLMCallRecord | undefined> {
  const stored = (event.data as { [FIELD]?: StoredCall })[FIELD];
  if (stored === undefined) {
    return undefined;
  }
  const { history: sessionId, ...record } = stored;
  const needsHistory = stored.prompt.some((one) => typeof one === "number");
  const entries = needsHistory ? await history(sessionId) : [];
  const prompt = stored.prompt.map((one) => (typeof one === "number" ? entries[one]!.message : one));
  return { ...record, prompt };
}
