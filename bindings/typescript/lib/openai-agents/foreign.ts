/** Messages that another program wrote, as items of the SDK. */
import type { AgentInputItem } from "@openai/agents-core";

import type { Part, Record as Message } from "../types.js";

type Fields = Record<string, unknown>;

/** The names of the tools that calls before a result name. */
export type Tools = Map<string, string>;

/** Returns the item for one that the SDK for Python wrote, which is in the form of the API. */
export function itemOf(written: Fields, tools: Tools): AgentInputItem {
  return { ...converted(written, tools) } as unknown as AgentInputItem;
}

function converted(item: Fields, tools: Tools): Fields {
  const { type, role, content, id } = item;
  if (role === "assistant") {
    return { ...item, status: item["status"] ?? "completed", content: answerOf(content) };
  }
  if (typeof role === "string") {
    return { ...item, role: role === "developer" ? "system" : role, content: inputOf(content) };
  }
  const named = typeof id === "string" ? { id } : {};
  switch (type) {
    case "function_call": {
      const { call_id: callId, name, arguments: given, status = "completed" } = item;
      tools.set(String(callId), String(name));
      return { type, ...named, callId, name, arguments: given, status };
    }
    case "function_call_output": {
      const { call_id: callId, output, status = "completed" } = item;
      const name = tools.get(String(callId)) ?? "tool";
      const result = typeof output === "string" ? { type: "text", text: output } : output;
      return { type: "function_call_result", ...named, callId, name, status, output: result };
    }
    case "reasoning": {
      const { summary, encrypted_content: encrypted } = item;
      const texts = (Array.isArray(summary) ? (summary as Fields[]) : []).map((part) => ({
        type: "input_text",
        text: part["text"],
      }));
      const provider = encrypted ? { providerData: { encrypted_content: encrypted } } : {};
      return { type, ...named, content: texts, ...provider };
    }
    default:
      // The SDK passes on to the API what it has no form for.
      return { type: "unknown", providerData: item };
  }
}

function answerOf(content: unknown): unknown {
  if (!Array.isArray(content)) {
    return [{ type: "output_text", text: String(content ?? "") }];
  }
  return (content as Fields[]).map(({ type, text, refusal, ...rest }) => {
    const provider = Object.keys(rest).length > 0 ? { providerData: rest } : {};
    return type === "refusal" ? { type, refusal, ...provider } : { type, text, ...provider };
  });
}

function inputOf(content: unknown): unknown {
  if (!Array.isArray(content)) {
    return content ?? "";
  }
  return (content as Fields[]).map((part) => {
    const { type, image_url: image, detail } = part;
    return type === "input_image" && typeof image === "string"
      ? { type, image, ...(typeof detail === "string" ? { detail } : {}) }
      : part;
  });
}

/**
 * Returns the items of a message of another agent: one for each call, result and text. Reasoning is left
 * out: only the model that wrote it can read it.
 */
export function itemsOf({ role, content }: Message, tools: Tools): AgentInputItem[] {
  const parts: Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const items = parts.flatMap((part): Fields[] => {
    switch (part.type) {
      case "text":
        return [converted({ role, content: part.text }, tools)];
      case "tool_call": {
        const given = part.arguments;
        const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
        const call = { call_id: part.id, name: part.name, arguments: text };
        return [converted({ type: "function_call", ...call }, tools)];
      }
      case "tool_result": {
        const { call_id: callId, name, content: output } = part;
        if (name) {
          tools.set(callId, name);
        }
        const text = typeof output === "string" ? output : JSON.stringify(output);
        return [converted({ type: "function_call_output", call_id: callId, output: text }, tools)];
      }
      default:
        return [];
    }
  });
  return items as unknown as AgentInputItem[];
}
