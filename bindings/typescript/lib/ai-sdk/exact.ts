/**
 * Messages as JSON, and back exactly.
 *
 * A message of the SDK may have bytes and URLs, which JSON does not have. Each becomes an object with one
 * field that names what it is. Fields that are `undefined` are left out.
 */
import { invalid } from "../errors.js";
import { stringify } from "../json.js";

const BYTES = "ai_sdk_bytes";
const ADDRESS = "ai_sdk_url";
const MARKS = [BYTES, ADDRESS];

/** Returns a message as a value of JSON. Throws if a part of it has no form in JSON. */
export function plain<Message>(message: Message): Message {
  return JSON.parse(stringify(marked(message), "message")) as Message;
}

function marked(value: unknown): unknown {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (value instanceof URL) {
    return { [ADDRESS]: value.href };
  }
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  if (bytes instanceof Uint8Array) {
    return { [BYTES]: Buffer.from(bytes).toString("base64") };
  }
  if (Array.isArray(value)) {
    return value.map(marked);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    // Dates have a form in JSON; what else there is, `stringify` refuses.
    return value;
  }
  if (MARKS.some((mark) => Object.hasOwn(value, mark))) {
    throw invalid(`a message has a field that is named ${MARKS.join(" or ")}`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, marked(one)]));
}

/** Returns the message that was written by {@link plain}. */
export function exact<Message>(written: Message): Message {
  return unmarked(written) as Message;
}

function unmarked(value: unknown): unknown {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(unmarked);
  }
  const { [BYTES]: bytes, [ADDRESS]: address } = value as Record<string, unknown>;
  if (typeof bytes === "string") {
    return new Uint8Array(Buffer.from(bytes, "base64"));
  }
  if (typeof address === "string") {
    return new URL(address);
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unmarked(one)]));
}
