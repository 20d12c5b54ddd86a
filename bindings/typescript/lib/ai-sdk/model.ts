/**
 * The messages that models get (`ModelMessage`) as events, and back.
 *
 * The event has the message verbatim in the field `ai_sdk` of its payload. A message with several results
 * of tools is one event for each: `ai_sdk_joins` says that an event continues the message before it. The
 * other fields are forklore's own form, which other agents read.
 */
import type { ModelMessage } from "ai";

import type { EventLine, NewEvent, Part, Record as Message } from "../types.js";
import { plain } from "./exact.js";

/** The field of a payload that has a message. */
export const MODEL = "ai_sdk";
const JOINS = "ai_sdk_joins";
/** The type of the event of a message that forklore has no form for. A model gets it. */
export const OTHER = "x.ai_sdk.message";

type Fields = Record<string, unknown>;

/** Returns the events of a message. */
export function eventsOf(message: ModelMessage): NewEvent[] {
  const written = plain(message) as unknown as Fields;
  const { role, content } = written;
  if (role !== "tool") {
    const data = { content: contentOf(content), [MODEL]: written };
    return [{ type: `${String(role)}_message`, data }];
  }
  const parts = Array.isArray(content) ? (content as Fields[]) : [];
  const events = parts.map((part, at): NewEvent => {
    const own = { ...written, content: [part] };
    const joins = at > 0 ? { [JOINS]: true } : {};
    const result = resultOf(part);
    return result === undefined
      ? { type: OTHER, class: "conversation", data: { [MODEL]: own, ...joins } }
      : { type: "tool_result", data: { ...result, [MODEL]: own, ...joins } };
  });
  const empty: NewEvent = { type: OTHER, class: "conversation", data: { [MODEL]: written } };
  return events.length > 0 ? events : [empty];
}

/** Returns the content of a message in forklore's form. */
function contentOf(content: unknown): string | unknown[] {
  if (!Array.isArray(content)) {
    return typeof content === "string" ? content : "";
  }
  return (content as Fields[]).map((part) => {
    const { type, text, toolCallId, toolName } = part;
    if (type === "tool-call") {
      return { type: "tool_call", id: toolCallId, name: toolName, arguments: part["input"] ?? {} };
    }
    if (type === "tool-result") {
      return { type: "tool_result", ...resultOf(part) };
    }
    return type === "text" || type === "reasoning" ? { type, text } : part;
  });
}

function resultOf({ type, toolCallId, toolName, output }: Fields): Fields | undefined {
  if (type !== "tool-result" || typeof toolCallId !== "string") {
    return undefined;
  }
  const { type: kind, value, reason } = (output ?? {}) as Fields;
  const shown = value ?? reason ?? "";
  const content = typeof shown === "string" ? shown : JSON.stringify(shown);
  const failed = /^(error-|execution-denied)/.test(String(kind)) ? { is_error: true } : {};
  return { call_id: toolCallId, content, name: toolName, ...failed };
}

/** Returns the message that an event has, and whether it continues the one before. */
export function written({ data }: EventLine): { message: Fields; joins: boolean } | undefined {
  const { [MODEL]: message, [JOINS]: joins } = (data ?? {}) as Fields;
  return message === undefined ? undefined : { message: message as Fields, joins: joins === true };
}

/** Returns the messages for one that something else wrote. */
export function foreign({ role, content }: Message): Fields[] {
  if (typeof content === "string") {
    return [{ role, content }];
  }
  const results = content.filter((part) => part.type === "tool_result").map(toolResult);
  const tool = results.length > 0 ? [{ role: "tool", content: results }] : [];
  const rest = content.flatMap((part) => partOf(part));
  return rest.length > 0 ? [{ role, content: rest }, ...tool] : tool;
}

function partOf(part: Part): Fields[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "tool_call": {
      const { id: toolCallId, name: toolName, arguments: input } = part;
      return [{ type: "tool-call", toolCallId, toolName, input }];
    }
    default:
      return [];
  }
}

function toolResult({ call_id, name, content, is_error }: Part & { type: "tool_result" }): Fields {
  const isText = typeof content === "string";
  const failed = is_error === true ? "error-" : "";
  const output = { type: `${failed}${isText ? "text" : "json"}`, value: content };
  return { type: "tool-result", toolCallId: call_id, toolName: name ?? "tool", output };
}
