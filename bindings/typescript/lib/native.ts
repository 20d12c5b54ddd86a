/** The addon, which does the work. */
import { UnsupportedError } from "./errors.js";
import { inPlatformPackage, require } from "./platform.js";

/** A connection to a store. Requests and answers are JSON. Errors are those of {@link failure}. */
export interface Connection {
  readonly location: string;
  call(request: string): Promise<string>;
  callSync(request: string): string;
  measure(request: string, times: number): number;
  rows(request: string): Promise<Rows>;
  rowsSync(request: string): Rows;
  send(request: string, content: Uint8Array): Promise<string>;
  sendSync(request: string, content: Uint8Array): string;
  receive(request: string): Promise<Uint8Array>;
  receiveSync(request: string): Uint8Array;
  close(): Promise<void>;
  closeSync(): void;
}

/** The items of a long answer, read page by page. A page is a JSON list, and the last one is empty. */
export interface Rows {
  page(limit: number): Promise<string>;
  pageSync(limit: number): string;
  release(): void;
}

/** The core of the saver for LangGraph. Requests and answers are JSON. */
export interface LangGraph {
  put(request: string): Promise<string>;
  putWrites(request: string): Promise<void>;
  get(request: string): Promise<string>;
  list(request: string): Promise<string>;
  elements(request: string): Promise<string>;
  history(request: string): Promise<string>;
  copyThread(source: string, target: string): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
  prune(threadId: string): Promise<void>;
  deleteForRuns(runs: string[]): Promise<void>;
}

/** Names a transcript of the Claude Agent SDK. */
export interface TranscriptKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** A transcript in a list. */
export interface Transcript {
  name: string;
  modified: number;
  summary?: string;
}

/** A summary to store with records, and the stored one from which it was made. */
export interface Folded {
  before?: string;
  after: string;
}

/** The core of the session store for the Claude Agent SDK. */
export interface ClaudeSessions {
  append(key: TranscriptKey, lines: string[], folded?: Folded): Promise<number>;
  load(key: TranscriptKey): Promise<string | null>;
  sessions(projectKey: string): Promise<Transcript[]>;
  summary(key: TranscriptKey): Promise<string | null>;
  subAgents(key: TranscriptKey): Promise<Transcript[]>;
  delete(key: TranscriptKey, erase: boolean): Promise<void>;
  fork(
    key: TranscriptKey,
    newId: string,
    record?: string,
    title?: string,
    summary?: string,
  ): Promise<string | null>;
  session(key: TranscriptKey): Promise<string | null>;
}

/** What the addon exports. */
export interface Addon {
  readonly ClaudeSessions: new (connection: Connection, workspace: string) => ClaudeSessions;
  readonly LangGraph: new (connection: Connection, workspace: string) => LangGraph;
  version(): string;
  open(url?: string): Promise<Connection>;
  openSync(url?: string): Connection;
}

const { version } = require("../../package.json") as { version: string };

/** Loads the addon that was built next to this package, or that of the platform's package. */
function load(): Addon {
  try {
    return require("../../forklore.node") as Addon;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") {
      throw error;
    }
  }
  return inPlatformPackage("addon", (name) => require(`${name}/forklore.node`) as Addon);
}

/** Returns the addon if it has the package's version: the two change together. */
export function checked(addon: Addon, expected: string): Addon {
  const found = addon.version();
  if (found !== expected) {
    throw new UnsupportedError(
      "unsupported",
      `the addon is version ${found}, and the package forklore is version ${expected}`,
      { addon: found, package: expected },
      ["install the package again, so that both have the same version"],
    );
  }
  return addon;
}

/** The version of the package. */
export const VERSION: string = version;

/** The addon. */
export const addon: Addon = checked(load(), version);
