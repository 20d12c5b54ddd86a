/**
 * Items of the SDK as events of a session.
 *
 * The event has the item verbatim, so it comes back exactly as it was added. The other fields of its
 * payload are forklore's own form of it, which `tree`, `diff`, `search` and other agents read. The SDK for
 * Python writes its items in another form. An item whose form is the same in both has the field that the
 * Python package reads, so that both SDKs get the same.
 */
import type { AgentInputItem } from "@openai/agents-core";

import { stringify } from "../json.js";
import type { NewEvent } from "../types.js";

/** The field of a payload with an item in the form of the API, as the SDK for Python has it. */
export const SHARED = "openai";
/** The field of a payload with an item in the form of the SDK for JavaScript. */
export const OWN = "openai_js";
/** The type of the event of an item that forklore has no form for. A model gets it. */
export const OTHER = "x.openai.item";

type Fields = Record<string, unknown>;
type Form = [type: string, data: Fields];

const MESSAGES: Readonly<Record<string, string>> = {
  user: "user_message",
  assistant: "assistant_message",
  system: "system_message",
};

/** The fields of the various calls that say what to do. */
const ARGUMENTS = ["arguments", "action", "actions", "operation", "code"];

/** Returns the event of an item. Throws if the item has no form in JSON. */
export function eventOf(item: AgentInputItem): NewEvent {
  const verbatim = JSON.parse(stringify(item, "item")) as Fields;
  const [type, data] = form(verbatim);
  const field = isShared(verbatim) ? SHARED : OWN;
  const event: NewEvent = { type, data: { ...data, [field]: verbatim } };
  return type === OTHER ? { ...event, class: "conversation" } : event;
}

/** Whether an item has the same form in the API: a message of a person or of the application. */
function isShared({ role, type, content, ...rest }: Fields): boolean {
  const isPlain = (role === "user" || role === "system") && Object.keys(rest).length === 0;
  const parts = Array.isArray(content) ? (content as Fields[]) : [];
  return (
    isPlain &&
    (type === undefined || type === "message") &&
    (typeof content === "string" || (parts.length > 0 && parts.every(isInputText)))
  );
}

function isInputText(part: Fields): boolean {
  return part["type"] === "input_text" && Object.keys(part).length === 2;
}

function form(item: Fields): Form {
  const type = String(item["type"] ?? "");
  const message = MESSAGES[String(item["role"])];
  if (message !== undefined) {
    return [message, { content: contentOf(item["content"]) }];
  }
  if (type === "reasoning") {
    const texts = [...list(item["content"]), ...list(item["rawContent"])].map((part) => part["text"]);
    const content = texts.filter((text) => typeof text === "string").join("\n");
    return ["reasoning", { content, provider: "openai" }];
  }
  const { id, callId } = item;
  if (type === "hosted_tool_call" && typeof id === "string") {
    const call = { type: "tool_call", ...callOf(id, item) };
    const result = { type: "tool_result", ...resultOf(id, item) };
    return ["assistant_message", { content: [call, result] }];
  }
  if (typeof callId === "string" && (type.endsWith("_call") || type === "program")) {
    return ["tool_call", callOf(callId, item)];
  }
  if (typeof callId === "string" && /_(output|result)$/.test(type)) {
    return ["tool_result", resultOf(callId, item)];
  }
  return [OTHER, {}];
}

function contentOf(content: unknown): string | unknown[] {
  if (typeof content === "string") {
    return content;
  }
  return list(content).map((part) => {
    const text = part["text"] ?? part["refusal"];
    return typeof text === "string" ? { type: "text", text } : part;
  });
}

function callOf(id: string, item: Fields): Fields {
  const field = ARGUMENTS.find((name) => item[name] !== undefined);
  const given = field === undefined ? {} : item[field];
  return { id, name: String(item["name"] ?? item["type"]), arguments: parsed(given) };
}

/** Returns what JSON in a text says, or the text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") {
    return value;
  }
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function resultOf(callId: string, item: Fields): Fields {
  const { output, name, status } = item;
  const failed = status === "failed" ? { is_error: true } : {};
  const named = typeof name === "string" ? { name } : {};
  return { call_id: callId, content: textOf(output), ...named, ...failed };
}

function textOf(output: unknown): string {
  if (typeof output === "string" || output === undefined) {
    return output ?? "";
  }
  const texts = (Array.isArray(output) ? list(output) : [output as Fields]).map(
    (part) => part["text"],
  );
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : stringify(output);
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}
