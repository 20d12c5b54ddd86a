/** The items of a session, read from its log. */
import type { AgentInputItem } from "@openai/agents-core";

import { CONVERSATION } from "../events.js";
import { hasMark, type Head, type Line } from "../line.js";
import type { EventLine, Record as Message } from "../types.js";
import { itemOf, itemsOf, type Tools } from "./foreign.js";
import { OTHER, OWN, SHARED } from "./items.js";

/** The fields that mark the events of the SDKs. */
export const MARKS = [OWN, SHARED] as const;

/** How many more events than items are read from the end of a log at first. */
const MARGIN = 16;

const TYPES = new Set([...CONVERSATION, OTHER]);

/** An event of the conversation, as items. */
export interface Entry {
  readonly seq: number;
  /** One item, or those of what another agent wrote: none, one or several. */
  readonly items: AgentInputItem[];
}

/** Returns the conversation of a line. */
export async function entries(line: Line, head: Head, from = 0): Promise<Entry[]> {
  const found: EventLine[] = [];
  for await (const event of line.events(head, from)) {
    if (TYPES.has(event.type)) {
      found.push(event);
    }
  }
  const foreign = found.filter((event) => !hasMark(event.data, MARKS));
  const messages = await replayed(line, head, foreign);
  const tools: Tools = new Map();
  return found.map((event) => ({ seq: event.seq, items: items(event, messages, tools) }));
}

/** Returns the end of a conversation, which has this many items if there are so many. */
export async function lastEntries(line: Line, head: Head, count: number): Promise<Entry[]> {
  for (let window = count + MARGIN; ; window *= 4) {
    const from = Math.max(0, head.seq - window + 1);
    const found = (await entries(line, head, from)).filter((entry) => entry.items.length > 0);
    const total = found.reduce((sum, entry) => sum + entry.items.length, 0);
    if (from === 0 || total >= count) {
      return found;
    }
  }
}

function items(event: EventLine, messages: Map<number, Message>, tools: Tools): AgentInputItem[] {
  const data = event.data as Record<string, unknown>;
  if (hasMark(data, [OWN])) {
    return [data[OWN] as AgentInputItem];
  }
  if (hasMark(data, [SHARED])) {
    return [itemOf(data[SHARED] as Record<string, unknown>, tools)];
  }
  const message = messages.get(event.seq);
  return message === undefined ? [] : itemsOf(message, tools);
}

/** Returns the messages that another agent wrote, in the form that all agents share. */
async function replayed(
  line: Line,
  head: Head,
  foreign: EventLine[],
): Promise<Map<number, Message>> {
  const messages = new Map<number, Message>();
  const [first, last] = [foreign[0], foreign.at(-1)];
  if (first !== undefined && last !== undefined) {
    const part = { from: `seq:${first.seq}`, up_to: `seq:${last.seq}` };
    for await (const message of line.store.replay({ session_id: head.sessionId, ...part })) {
      messages.set(message.seq, message);
    }
  }
  return messages;
}
