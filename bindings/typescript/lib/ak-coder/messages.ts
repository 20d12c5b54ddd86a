/**
 * Messages of ak-coder as events, and back.
 *
 * The event has the message verbatim in the field `ak_coder` of its payload, so it comes back as it was
 * saved. The other fields are forklore's own form of it.
 */
import { CONVERSATION } from "../events.js";
import { hasMark, type Head, type Line } from "../line.js";
import type { Entry } from "../rewrite.js";
import type { EventLine, NewEvent, Part, Record as Message } from "../types.js";
import type { ChatMessage, ToolCall } from "./port.js";

/** The field of a payload that has a message. */
export const FIELD = "ak_coder";
/** The type of the event of a message that forklore has no form for. */
export const OTHER = "x.ak-coder.message";
/** The formats in which an imported event is a message of ak-coder. */
const DIALECTS = new Set(["ak-coder", "plain"]);

const TYPES = new Set([...CONVERSATION, OTHER]);

/** Returns the event of a message. */
export function eventOf(message: ChatMessage): NewEvent {
  const { role, content } = message;
  const own = { [FIELD]: message };
  switch (role) {
    case "system":
    case "user":
      return { type: `${role}_message`, data: { content: content ?? "", ...own } };
    case "assistant":
      return { type: "assistant_message", data: { content: answerOf(message), ...own } };
    default:
      return resultOf(message) ?? { type: OTHER, class: "conversation", data: own };
  }
}

function answerOf({ content, tool_calls: calls = [] }: ChatMessage): string | Part[] {
  if (calls.length === 0) {
    return content ?? "";
  }
  const text: Part[] = content ? [{ type: "text", text: content }] : [];
  const parts = calls.map(({ id, function: { name, arguments: given } }): Part => {
    return { type: "tool_call", id, name, arguments: parsed(given) };
  });
  return [...text, ...parts];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function resultOf(message: ChatMessage): NewEvent | undefined {
  const { role, content, name, tool_call_id: id } = message;
  if (role !== "tool" || id === undefined) {
    return undefined;
  }
  const named = name === undefined ? {} : { name };
  return { type: "tool_result", data: { call_id: id, content, ...named, [FIELD]: message } };
}

/** Returns the messages of a line, in order. */
export async function read(line: Line, head: Head, from = 0): Promise<Entry<ChatMessage>[]> {
  const found: EventLine[] = [];
  for await (const event of line.events(head, from)) {
    if (TYPES.has(event.type)) {
      found.push(event);
    }
  }
  const foreign = await replayed(
    line,
    head,
    found.filter((event) => own(event) === undefined),
  );
  return found.flatMap((event) => {
    const message = own(event);
    const messages = message === undefined ? (foreign.get(event.seq) ?? []) : [message];
    return messages.map((one) => ({ seq: event.seq, message: one }));
  });
}

function own({ data, dialect }: EventLine): ChatMessage | undefined {
  if (hasMark(data, [FIELD])) {
    return (data as { [FIELD]: ChatMessage })[FIELD];
  }
  const isOwn = DIALECTS.has(dialect ?? "") && hasMark(data, ["role"]);
  return isOwn ? (data as ChatMessage) : undefined;
}

async function replayed(line: Line, head: Head, foreign: EventLine[]) {
  const messages = new Map<number, ChatMessage[]>();
  const [first, last] = [foreign[0], foreign.at(-1)];
  if (first !== undefined && last !== undefined) {
    const part = { from: `seq:${first.seq}`, up_to: `seq:${last.seq}` };
    for await (const message of line.store.replay({ session_id: head.sessionId, ...part })) {
      messages.set(message.seq, messagesOf(message));
    }
  }
  return messages;
}

/** Returns the messages for one of another agent: one with its texts and calls, and one per result. */
function messagesOf({ role, content }: Message): ChatMessage[] {
  if (typeof content === "string") {
    return [{ role, content }];
  }
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const calls = content.flatMap((part): ToolCall[] => {
    if (part.type !== "tool_call") {
      return [];
    }
    const given = part.arguments;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return [{ id: part.id, type: "function", function: { name: part.name, arguments: text } }];
  });
  const results = content.flatMap((part): ChatMessage[] => {
    if (part.type !== "tool_result") {
      return [];
    }
    const text = typeof part.content === "string" ? part.content : JSON.stringify(part.content);
    const named = part.name ? { name: part.name } : {};
    return [{ role: "tool", tool_call_id: part.call_id, ...named, content: text }];
  });
  if (texts.length === 0 && calls.length === 0) {
    return results;
  }
  const called = calls.length > 0 ? { tool_calls: calls } : {};
  return [{ role, content: texts.join("\n"), ...called }, ...results];
}
