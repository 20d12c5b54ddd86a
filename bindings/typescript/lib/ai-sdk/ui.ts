/**
 * The messages that people see (`UIMessage`) as events, and back.
 *
 * The event has the message verbatim in the field `ai_sdk_ui` of its payload. The other fields are
 * forklore's own form: an answer has the calls of tools and their results.
 */
import type { UIMessage } from "ai";

import type { NewEvent, Record as Message } from "../types.js";
import { plain } from "./exact.js";

/** The field of a payload that has a message. */
export const SHOWN = "ai_sdk_ui";

type Fields = Record<string, unknown>;

/** Returns the event of a message. */
export function eventOf(message: UIMessage): NewEvent {
  const written = plain(message) as unknown as { role: string; parts: Fields[] };
  const content = (written.parts ?? []).flatMap(partsOf);
  return { type: `${written.role}_message`, data: { content, [SHOWN]: written } };
}

function partsOf(part: Fields): Fields[] {
  const { type, text } = part;
  if (type === "text" || type === "reasoning") {
    return [{ type, text }];
  }
  if (type === "step-start") {
    return [];
  }
  const { toolCallId: id, input } = part;
  const name = type === "dynamic-tool" ? part["toolName"] : String(type).slice("tool-".length);
  const isTool = type === "dynamic-tool" || String(type).startsWith("tool-");
  if (!isTool || typeof id !== "string") {
    return [part];
  }
  const call = { type: "tool_call", id, name, arguments: input ?? {} };
  return [call, ...resultOf(id, name, part)];
}

function resultOf(callId: string, name: unknown, part: Fields): Fields[] {
  const result = { type: "tool_result", call_id: callId, name };
  switch (part["state"]) {
    case "output-available":
      return [{ ...result, content: part["output"] ?? "" }];
    case "output-error":
      return [{ ...result, content: part["errorText"] ?? "", is_error: true }];
    case "output-denied":
      return [{ ...result, content: "", is_error: true }];
    default:
      return [];
  }
}

/** Collects messages that something else wrote: an answer with its calls and results is one message. */
export class Answers {
  readonly messages: { seq: number; message: Fields & { parts: Fields[] } }[] = [];
  #calls = new Map<string, Fields>();

  /** Begins anew: the next message belongs to no answer before. */
  end(): void {
    this.#calls = new Map();
    this.#isOpen = false;
  }

  #isOpen = false;

  /** Adds a message. */
  add({ seq, role, content, origin }: Message): void {
    const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const isAnswer = role === "assistant" || role === "tool";
    if (!isAnswer || !this.#isOpen) {
      this.end();
      const message = { id: origin.id, role: isAnswer ? "assistant" : role, parts: [] };
      this.messages.push({ seq, message });
      this.#isOpen = isAnswer;
    }
    const shown = this.messages.at(-1)!.message.parts;
    for (const part of parts) {
      if (part.type === "text") {
        shown.push({ type: "text", text: part.text });
      } else if (part.type === "tool_call") {
        const { id: toolCallId, name: toolName, arguments: input } = part;
        const call = { type: "dynamic-tool", toolName, toolCallId, state: "input-available", input };
        this.#calls.set(toolCallId, call);
        shown.push(call);
      } else if (part.type === "tool_result") {
        this.#answer(part);
      }
    }
  }

  #answer({ call_id, content, is_error }: { call_id: string; content: unknown; is_error?: boolean }) {
    const call = this.#calls.get(call_id);
    if (call !== undefined && is_error === true) {
      const errorText = typeof content === "string" ? content : JSON.stringify(content);
      Object.assign(call, { state: "output-error", errorText });
    } else if (call !== undefined) {
      Object.assign(call, { state: "output-available", output: content });
    }
  }
}
