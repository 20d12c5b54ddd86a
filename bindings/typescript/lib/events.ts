/** Events to append. */
import type { NewEvent, Part } from "./types.js";

/** The types of the events of a conversation. Types `x.*` may belong to it too: their class says so. */
export const CONVERSATION: readonly string[] = [
  "system_message",
  "user_message",
  "assistant_message",
  "reasoning",
  "tool_call",
  "tool_result",
];

/** The content of a message: text, or a list of parts. */
export type MessageContent = string | Part[] | Record<string, unknown>[];

/** Fields of an event besides its type and its payload. */
export type Envelope = Pick<NewEvent, "class" | "id" | "ts">;

type Fields = Record<string, unknown>;

/** Returns an event of any type, such as `x.my_tool.note`. */
export function event(type: string, data: unknown, envelope: Envelope = {}): NewEvent {
  return { type, data, ...envelope };
}

/** Returns a user message. `fields` are further fields of the payload. */
export function user(content: MessageContent, fields: Fields = {}): NewEvent {
  return event("user_message", { content, ...fields });
}

/** Returns an assistant message. `fields` are further fields of the payload. */
export function assistant(content: MessageContent, fields: Fields = {}): NewEvent {
  return event("assistant_message", { content, ...fields });
}

/** Returns a system message. `fields` are further fields of the payload. */
export function system(content: MessageContent, fields: Fields = {}): NewEvent {
  return event("system_message", { content, ...fields });
}

/** Returns a call of a tool. `fields` are further fields of the payload. */
export function toolCall(
  id: string,
  name: string,
  args: unknown = null,
  fields: Fields = {},
): NewEvent {
  return event("tool_call", { id, name, arguments: args, ...fields });
}

/** Returns the result of a tool call. `fields` are further fields of the payload. */
export function toolResult(
  callId: string,
  content: MessageContent,
  fields: Fields = {},
): NewEvent {
  return event("tool_result", { call_id: callId, content, ...fields });
}
