/**
 * Why a call failed: one class for each kind of error.
 *
 * The kinds are those of the program's `--json`. Catch {@link ForkloreError} for all of them.
 */
import type { ErrorKind } from "./types.js";

/** A call failed. It changed no session. */
export class ForkloreError extends Error {
  /** The kind of the error. The names of kinds do not change between versions. */
  readonly kind: ErrorKind;
  /** The details of the error. Which fields it has depends on the error. */
  readonly details: Record<string, unknown>;
  /** What can be done about it. */
  readonly nextActions: string[];

  constructor(
    kind: ErrorKind,
    message: string,
    details: Record<string, unknown> = {},
    nextActions: string[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
    this.details = details;
    this.nextActions = nextActions;
  }
}

/** What the call names does not exist. */
export class NotFoundError extends ForkloreError {}
/** An argument is wrong in itself. */
export class InvalidArgsError extends ForkloreError {}
/** Another writer was faster, or the state does not permit the call. */
export class ConflictError extends ForkloreError {}
/** An id or a label is in use. */
export class AlreadyExistsError extends ForkloreError {}
/** Other sessions inherit from the session. */
export class HasChildrenError extends ForkloreError {}
/** Another process has the session or the store. */
export class BusyError extends ForkloreError {}
/** The caller may not do this. */
export class PermissionDeniedError extends ForkloreError {}
/** The store cannot do this. */
export class UnsupportedError extends ForkloreError {}
/** The call was interrupted before it ended. */
export class InterruptedCallError extends ForkloreError {}
/** A budget is used up. */
export class BudgetExceededError extends ForkloreError {}
/** Stored data is damaged. */
export class CorruptError extends ForkloreError {}
/** A session from which events are inherited is missing. */
export class MissingAncestorError extends ForkloreError {}
/** The ancestors of a session run in a circle. */
export class LineageCycleError extends ForkloreError {}
/** The store or the operating system failed. */
export class InternalError extends ForkloreError {}

const CLASSES: { readonly [kind in ErrorKind]: typeof ForkloreError } = {
  not_found: NotFoundError,
  invalid_args: InvalidArgsError,
  conflict: ConflictError,
  already_exists: AlreadyExistsError,
  has_children: HasChildrenError,
  busy: BusyError,
  permission_denied: PermissionDeniedError,
  unsupported: UnsupportedError,
  interrupted: InterruptedCallError,
  budget_exceeded: BudgetExceededError,
  corrupt: CorruptError,
  missing_ancestor: MissingAncestorError,
  lineage_cycle: LineageCycleError,
  internal: InternalError,
};

/** Returns the error for what the addon threw. */
export function failure(thrown: unknown): unknown {
  if (thrown instanceof ForkloreError || !(thrown instanceof Error)) {
    return thrown;
  }
  const object = parsed(thrown.message);
  if (object === null) {
    // The addon itself refused an argument, for example a number as a URL.
    return new InvalidArgsError("invalid_args", thrown.message, {}, [], { cause: thrown });
  }
  const { kind, message, details, next_actions: next } = object;
  return new (CLASSES[kind] ?? ForkloreError)(kind, message, details ?? {}, next ?? []);
}

interface Failure {
  kind: ErrorKind;
  message: string;
  details?: Record<string, unknown>;
  next_actions?: string[];
}

function parsed(text: string): Failure | null {
  try {
    const object: unknown = JSON.parse(text);
    return object !== null && typeof object === "object" && "kind" in object
      ? (object as Failure)
      : null;
  } catch {
    return null;
  }
}

/** Returns the error of a request that is wrong in itself. */
export function invalid(
  message: string,
  details: Record<string, unknown> = {},
  ...nextActions: string[]
): InvalidArgsError {
  return new InvalidArgsError("invalid_args", message, details, nextActions);
}
