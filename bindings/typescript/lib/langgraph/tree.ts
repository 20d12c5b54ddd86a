/**
 * Values as trees of JSON.
 *
 * What JSON has is written as it is. Everything else is an object with the field `lg`: a message that is
 * stored once and referred to by its key, or a value that the serializer of LangGraph wrote. The Python
 * package writes the same trees.
 */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";

import { invalid } from "../errors.js";

/** The field of an object that stands for something else. */
export const MARK = "lg";

/** Returns what stands for a value in a tree, or `undefined` if the value stands for itself. */
export type Substitute = (value: unknown) => object | undefined;

/** Writes trees. The serializer is asynchronous, so a tree is complete when {@link settled} returns. */
export class Trees {
  readonly #serde: SerializerProtocol;
  readonly #pending: Promise<void>[] = [];

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
  }

  /** Returns a value as a tree. */
  of(value: unknown, substitute: Substitute = () => undefined): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return finite(value);
      case "bigint":
        throw invalid("a value of the state is a bigint, which has no form in JSON");
      case "object":
        return value === null ? null : this.#object(value, substitute);
      default:
        return this.typed(value);
    }
  }

  /** Returns a value as the serializer writes it. */
  typed(value: unknown): object {
    const node = { [MARK]: "typed", type: "", data: "" };
    const written = this.#serde.dumpsTyped(value).then(([type, data]) => {
      node.type = type;
      node.data = Buffer.from(data).toString("base64");
    });
    this.#pending.push(written);
    // An error is reported by `settled`.
    written.catch(() => undefined);
    return node;
  }

  /** Waits until all trees are complete. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #object(value: object, substitute: Substitute): unknown {
    const found = substitute(value);
    if (found !== undefined) {
      return found;
    }
    if (Array.isArray(value)) {
      return Array.from(value, (one: unknown) => this.of(one, substitute));
    }
    if (!isPlain(value)) {
      return this.typed(value);
    }
    const fields = Object.entries(value).map(([name, one]) => [name, this.of(one, substitute)]);
    return Object.fromEntries(fields) as object;
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) {
    throw invalid(`a value of the state is ${value}, which has no form in JSON`);
  }
  return value;
}

/** Whether an object is one of JSON that stands for itself. */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isObject = prototype === Object.prototype || prototype === null;
  return isObject && !(MARK in value) && !("toJSON" in value);
}
