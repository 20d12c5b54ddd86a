/** Values and elements as text, and back. */
import { createHash } from "node:crypto";

import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint";

import { failure } from "../errors.js";
import { isMessage, messageOf, payloadOf, TAGS } from "./messages.js";
import { MARK, Trees } from "./tree.js";

const REFERENCE = /\{"lg":"ref","key":"([A-Za-z0-9_-]{22})"\}/g;

/** What a value has in the stead of a message that was redacted. */
const REDACTED = "[redacted]";
/** What is read in the stead of an element that was redacted. */
export const GONE: unique symbol = Symbol("redacted");

/** A part of a value that is stored once. */
export interface Element {
  /** The type of the event, if the element is a message. */
  readonly kind: string | null;
  readonly tree: unknown;
}

/** An element, and what it was when it was written. */
interface Written {
  readonly seen: string;
  readonly key: string;
  readonly element: Element;
}

type Fields = Record<string, unknown>;

const ORDINARY = { configurable: true, enumerable: true, writable: true };

/**
 * Writes values as trees that the core stores, and reads them.
 *
 * With the serializer `JsonPlusSerializer`, messages and plain values are readable in the store. With
 * another one, which may encrypt, everything is what it writes.
 */
export class Codec {
  readonly serde: SerializerProtocol;
  readonly #isOpen: boolean;
  readonly #written = new WeakMap<object, Written>();

  constructor(serde: SerializerProtocol) {
    this.serde = serde;
    this.#isOpen = serde.constructor === JsonPlusSerializer;
  }

  /** Returns a value as a tree. Adds the messages in it to `elements`. */
  async encode(value: unknown, elements: Map<string, Element>): Promise<unknown> {
    const trees = new Trees(this.serde);
    if (!this.#isOpen) {
      const typed = trees.typed(value);
      await trees.settled();
      return typed;
    }
    const references: [object, { key: string }][] = [];
    const tree = trees.of(value, (one) => {
      if (!isMessage(one)) {
        return undefined;
      }
      const reference = { [MARK]: "ref", key: "" };
      references.push([one, reference]);
      return reference;
    });
    await trees.settled();
    for (const [message, reference] of references) {
      reference.key = await this.element(message, elements);
    }
    return tree;
  }

  /** Returns the fields or the metadata of a checkpoint as a tree, which is always readable. */
  async encodeOpen(fields: object): Promise<unknown> {
    const trees = new Trees(this.serde);
    const encoded = Object.entries(fields).map(([name, one]) => [name, trees.of(one)]);
    await trees.settled();
    return Object.fromEntries(encoded) as Fields;
  }

  /** Returns the key of an element of a list. Adds the element to `elements`. */
  async element(value: unknown, elements: Map<string, Element>): Promise<string> {
    const { key, element } = await this.#element(value);
    elements.set(key, element);
    return key;
  }

  /** Returns an element as it was written before, unless the message was changed since. */
  async #element(value: unknown): Promise<Written> {
    if (!this.#isOpen || !isMessage(value)) {
      return this.#write(value);
    }
    const seen = JSON.stringify(value);
    const before = this.#written.get(value);
    if (before?.seen === seen) {
      return before;
    }
    const written = { ...(await this.#write(value)), seen };
    this.#written.set(value, written);
    return written;
  }

  async #write(value: unknown): Promise<Written> {
    const trees = new Trees(this.serde);
    let [kind, tree]: [string | null, unknown] = [null, null];
    if (!this.#isOpen) {
      tree = trees.typed(value);
    } else if (isMessage(value)) {
      [kind, tree] = payloadOf(value, trees);
    } else {
      tree = trees.of(value);
    }
    await trees.settled();
    return { seen: "", key: keyOf(JSON.stringify(tree)), element: { kind, tree } };
  }

  /** Returns what a text says. `fetch` returns the trees of elements by their keys. */
  async decode(text: string, fetch: (keys: string[]) => Promise<unknown[]>): Promise<unknown> {
    const tree: unknown = JSON.parse(text);
    if (!text.includes(`"${MARK}":`)) {
      return tree;
    }
    const keys = [...new Set(Array.from(text.matchAll(REFERENCE), (match) => match[1]!))];
    const fetched = keys.length > 0 ? await fetch(keys) : [];
    // Each reference becomes an object of its own.
    const texts = new Map(keys.map((key, at) => [key, JSON.stringify(fetched[at])]));
    const expanded = replaced(tree, (node) => {
      if (node[MARK] !== "ref") {
        return node;
      }
      const found = JSON.parse(texts.get(String(node["key"])) ?? "null") as Fields | null;
      return found?.[MARK] === "gone" ? REDACTED : found;
    });
    return this.#restored(expanded);
  }

  async #restored(tree: unknown): Promise<unknown> {
    const values = new Map<object, unknown>();
    const typed: Promise<void>[] = [];
    replaced(tree, (node) => {
      if (node[MARK] === "typed") {
        const data = new Uint8Array(Buffer.from(String(node["data"]), "base64"));
        const loaded = this.serde.loadsTyped(String(node["type"]), data) as Promise<unknown>;
        typed.push(loaded.then((value) => void values.set(node, value)));
      }
      return node;
    });
    try {
      await Promise.all(typed);
    } catch (error) {
      throw failure(error);
    }
    return replaced(tree, (node) => {
      if (values.has(node)) {
        return values.get(node);
      }
      const mark = node[MARK];
      if (mark === "gone") {
        return GONE;
      }
      return typeof mark === "string" && TAGS.has(mark) ? messageOf(node) : node;
    });
  }
}

/** Replaces the marked objects of a tree, the innermost first. The tree is changed in place. */
function replaced(tree: unknown, replace: (node: Fields) => unknown): unknown {
  if (tree === null || typeof tree !== "object") {
    return tree;
  }
  const fields = tree as Fields;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && typeof value === "object") {
      const found = replaced(value, replace);
      if (found !== value) {
        // An assignment to `__proto__` would set the prototype.
        Object.defineProperty(fields, name, { value: found, ...ORDINARY });
      }
    }
  }
  return !Array.isArray(tree) && MARK in fields ? replace(fields) : tree;
}

/** Returns the key of the element with this text: the core computes the same. */
function keyOf(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");
}

/**
 * Whether a value is stored as a list of elements. A list of numbers is stored as a whole: an event for
 * each would be larger than the list.
 */
export function isList(value: unknown): value is unknown[] {
  if (!Array.isArray(value)) {
    return false;
  }
  const first: unknown = value[0];
  const isSmall = first === null || typeof first === "number" || typeof first === "boolean";
  return value.length === 0 || !isSmall;
}
