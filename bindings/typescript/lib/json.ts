/**
 * Requests and answers as JSON.
 *
 * `JSON.stringify` loses what JSON cannot say: NaN becomes null, a Map becomes {}. A request with such a
 * value is refused instead, so what is stored is what the caller passed.
 */
import { invalid, type InvalidArgsError } from "./errors.js";

/** Returns a request as JSON. Throws an {@link InvalidArgsError} if a value has no form in JSON. */
export function encode(verb: string, request: object): string {
  return `{"${verb}":${stringify(request, verb)}}`;
}

/** Returns a value as JSON. Throws an {@link InvalidArgsError} if a part of it has no form in JSON. */
export function stringify(value: unknown, name = "value"): string {
  try {
    check(value, [], name);
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) {
      // Too deep for the stack, or too long for a string.
      throw notJson(name, error.message);
    }
    throw error;
  }
}

function check(value: unknown, ancestors: object[], path: string): void {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (Number.isFinite(value)) {
        return;
      }
      throw notJson(path, `${value} is not a number of JSON`);
    case "object":
      return value === null ? undefined : checkObject(value, ancestors, path);
    default:
      throw notJson(path, `JSON has no ${typeof value}`);
  }
}

function checkObject(value: object, ancestors: object[], path: string): void {
  if (ancestors.includes(value)) {
    throw notJson(path, "the value contains itself");
  }
  ancestors.push(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      check(value[index], ancestors, `${path}[${index}]`);
    }
  } else if ("toJSON" in value && typeof value.toJSON === "function") {
    check(value.toJSON(""), ancestors, path);
  } else {
    checkFields(value, ancestors, path);
  }
  ancestors.pop();
}

function checkFields(value: object, ancestors: object[], path: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && !isPlainElsewhere(value)) {
    throw notJson(path, `JSON has no ${value.constructor?.name ?? "such object"}`);
  }
  for (const [name, field] of Object.entries(value)) {
    // An optional field that is absent.
    if (field !== undefined) {
      check(field, ancestors, `${path}.${name}`);
    }
  }
}

/** Whether a value is a plain object of another realm, such as that of a test runner. */
function isPlainElsewhere(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return (
    Object.prototype.toString.call(value) === "[object Object]" &&
    prototype !== null &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf")
  );
}

function notJson(path: string, problem: string): InvalidArgsError {
  return invalid(
    `${path} has no form in JSON: ${problem}`,
    { reason: "not_json", path },
    "pass text, finite numbers, arrays and plain objects; encode other values first",
  );
}
