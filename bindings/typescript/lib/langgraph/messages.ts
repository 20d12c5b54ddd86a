/**
 * Messages as events of a conversation, and back.
 *
 * The payload of such an event has the fields that forklore gives its type, so that every verb
 * understands it, and what else is needed to restore the message exactly. The Python package reads and
 * writes the same payloads.
 */
import { isDeepStrictEqual } from "node:util";

import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  HumanMessageChunk,
  isBaseMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";

import { isPlain, MARK, type Trees } from "./tree.js";

type Fields = Record<string, unknown>;

/** The payload of an event, and its type if it is one of the conversation. */
export type Payload = [kind: string | null, payload: Fields];

const CLASSES: Readonly<Record<string, new (fields: never) => BaseMessage>> = {
  human: HumanMessage,
  human_chunk: HumanMessageChunk,
  ai: AIMessage,
  ai_chunk: AIMessageChunk,
  system: SystemMessage,
  system_chunk: SystemMessageChunk,
  tool: ToolMessage,
  tool_chunk: ToolMessageChunk,
  chat: ChatMessage,
};
const TAG_OF = new Map(Object.entries(CLASSES).map(([tag, kind]) => [kind as unknown, tag]));

/** The types of events, by the roles of objects and the types of LangChain's messages. */
const KINDS: Readonly<Record<string, string>> = {
  human: "user_message",
  user: "user_message",
  ai: "assistant_message",
  assistant: "assistant_message",
  model: "assistant_message",
  system: "system_message",
  developer: "system_message",
  tool: "tool_result",
};

/** The marks of payloads that are messages. */
export const TAGS: ReadonlySet<string> = new Set([
  "raw",
  "dict",
  "dict_tool",
  ...Object.keys(CLASSES),
]);

/** Fields that would mean something in an event, although they do not in an object. */
const MEANINGFUL = [MARK, "injected", "partial", "call_id", "synthetic", "is_error"];

/** Whether a value is a message: one of LangChain, or an object with a role. */
export function isMessage(value: unknown): value is object {
  if (value === null || typeof value !== "object") {
    return false;
  }
  if (isBaseMessage(value)) {
    return true;
  }
  const { role, content } = value as Fields;
  return typeof role === "string" && Object.hasOwn(KINDS, role) && content !== undefined;
}

/** Returns the type and the payload of the event that a message is. */
export function payloadOf(value: object, trees: Trees): Payload {
  if (!isBaseMessage(value)) {
    return object(value as Fields, trees);
  }
  const found = langchain(value, trees);
  // A message that would not come back exactly is written by the serializer.
  return found ?? [null, { [MARK]: "raw", value: trees.typed(value) }];
}

/** Returns the message that a decoded payload is. */
export function messageOf(payload: Fields): unknown {
  const { [MARK]: tag, ...rest } = payload;
  if (tag === "raw") {
    return payload["value"];
  }
  if (tag === "dict" || tag === "dict_tool") {
    const { call_id: _, ...fields } = rest;
    return tag === "dict" ? rest : fields;
  }
  const calls = (payload["calls"] as number | undefined) ?? 0;
  const fields: Fields = { ...(payload["fields"] as Fields) };
  let content = payload["content"] as string | Fields[];
  if (calls > 0 && Array.isArray(content)) {
    fields["tool_calls"] = content.slice(-calls).map(callOf);
    content = content.slice(0, -calls);
    if (payload["text"] === true) {
      content = (content[0]?.["text"] as string | undefined) ?? "";
    }
  }
  if ("call_id" in payload) {
    fields["tool_call_id"] = payload["call_id"];
  }
  return restored(String(tag), { ...fields, content });
}

function restored(tag: string, fields: Fields): BaseMessage {
  // The type is not a field of the constructor; Python records it with some messages.
  const { type: _, ...given } = fields;
  return new CLASSES[tag]!(given as never);
}

function langchain(message: BaseMessage, trees: Trees): Payload | undefined {
  const tag = TAG_OF.get(message.constructor);
  const kind = KINDS[message instanceof ChatMessage ? message.role : message.getType()];
  if (tag === undefined || kind === undefined || (kind === "tool_result") !== tag.startsWith("tool")) {
    return undefined;
  }
  const { content, tool_call_id: callId, ...data } = message.toDict().data as unknown as Fields;
  const fields = Object.fromEntries(Object.entries(data).filter(([, value]) => !isEmpty(value)));
  const given = { ...fields, content, ...(callId === undefined ? {} : { tool_call_id: callId }) };
  if (!isDeepStrictEqual(dictOf(restored(tag, given)), dictOf(message))) {
    return undefined;
  }
  const payload: Fields = { [MARK]: tag, content: trees.of(content) };
  if (kind === "tool_result") {
    Object.assign(payload, { call_id: callId }, fields["name"] && { name: fields["name"] });
    Object.assign(payload, fields["status"] === "error" && { is_error: true });
  }
  addCalls(payload, fields, trees);
  payload["fields"] = trees.of(fields);
  return [kind, payload];
}

/** Returns what a message has, without fields that have no value. */
function dictOf(message: BaseMessage): unknown {
  return JSON.parse(JSON.stringify(message.toDict())) as unknown;
}

/** Whether a field has what a message has without it. */
function isEmpty(value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null;
  return value === undefined || value === null || (isObject && Object.keys(value).length === 0);
}

/** Moves the calls of an answer into its content, where forklore has them. */
function addCalls(payload: Fields, fields: Fields, trees: Trees): void {
  const calls = (fields["tool_calls"] ?? []) as Fields[];
  if (calls.length === 0 || !calls.every(isCall)) {
    return;
  }
  const { content } = payload;
  const text = content ? [{ type: "text", text: content }] : [];
  const parts = typeof content === "string" ? text : (content as Fields[]);
  payload["content"] = [...parts, ...calls.map((call) => partOf(call, trees))];
  payload["calls"] = calls.length;
  if (typeof content === "string") {
    payload["text"] = true;
  }
  delete fields["tool_calls"];
}

function isCall(call: Fields): boolean {
  const { name, args, id, type, ...rest } = call;
  const isComplete = typeof name === "string" && typeof id === "string" && type === "tool_call";
  return isComplete && isObject(args) && Object.keys(rest).length === 0;
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function partOf({ id, name, args }: Fields, trees: Trees): Fields {
  return { type: "tool_call", id, name, arguments: trees.of(args) };
}

function callOf({ id, name, arguments: args }: Fields): Fields {
  return { name, args, id, type: "tool_call" };
}

function object(value: Fields, trees: Trees): Payload {
  const { role, content, tool_call_id: callId, tool_calls: calls } = value;
  const kind = KINDS[String(role)]!;
  const whole = isPlain(value) ? (trees.of(value) as Fields) : (trees.typed(value) as Fields);
  const hasContent = typeof content === "string" || Array.isArray(content);
  const fits = isPlain(value) && hasContent && !MEANINGFUL.some((name) => name in value);
  const isResult = kind === "tool_result";
  if (isResult && typeof callId !== "string") {
    return [null, { [MARK]: "raw", value: whole }];
  }
  if (fits && isResult) {
    return [kind, { [MARK]: "dict_tool", call_id: callId, ...whole }];
  }
  if (fits && isEmpty(calls)) {
    return [kind, { [MARK]: "dict", ...whole }];
  }
  const view = [...texts(content), ...openaiCalls(calls)];
  const payload: Fields = { [MARK]: "raw", content: view, value: whole };
  return [kind, isResult ? { ...payload, call_id: callId } : payload];
}

/** Returns the text of a content as parts. */
function texts(content: unknown): Fields[] {
  if (typeof content === "string") {
    return content ? [{ type: "text", text: content }] : [];
  }
  const parts = Array.isArray(content) ? (content as Fields[]) : [];
  const found = parts.filter((part) => isObject(part) && typeof part["text"] === "string");
  return found.map((part) => ({ type: "text", text: part["text"] }));
}

/** Returns the tool calls of an object in OpenAI's form as parts. */
function openaiCalls(calls: unknown): Fields[] {
  const found = Array.isArray(calls) ? (calls as { id?: unknown; function?: Fields }[]) : [];
  return found.flatMap((call) => {
    const { name, arguments: args } = call?.function ?? {};
    const isComplete = [call?.id, name, args].every((one) => typeof one === "string");
    return isComplete ? [{ type: "tool_call", id: call.id, name, arguments: args }] : [];
  });
}
