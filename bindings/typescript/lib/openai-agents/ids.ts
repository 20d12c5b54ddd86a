/**
 * Which session of forklore has a branch of a session of the SDK.
 *
 * An id of the SDK is any text, and one of forklore is not (docs/semantics.md, Envelope): it has a
 * grammar, and case does not distinguish it. An id that already is a lower-case word is used as it is, so
 * that the session can be found under its own id. Any other id is named by its hash. The Python package
 * names the sessions alike.
 */
import { createHash, randomBytes } from "node:crypto";

/** The branch with which a session begins. */
export const MAIN = "main";
/** The field of a session's metadata that says which branch of which session it has. */
export const METADATA = "openai_agents";

const WORD = /^[a-z0-9_][a-z0-9_-]{0,119}$/;
const LABEL = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,47}$/;

/** The ids of the sessions that have the branches of one session of the SDK. */
export class Ids {
  /** The id in the SDK. */
  readonly sessionId: string;
  /** The session in which the branch `main` began. All other sessions descend from it. */
  readonly root: string;

  constructor(sessionId: string) {
    const isId = WORD.test(sessionId) && sessionId !== "last" && !sessionId.startsWith("oa-");
    this.sessionId = sessionId;
    this.root = isId ? sessionId : `oa-${hash(sessionId)}`;
  }

  /** Returns the session in which a branch began. */
  start(branch: string): string {
    return branch === MAIN ? this.root : `${this.root}.b-${hash(branch)}`;
  }

  /** Returns a new id for the session in which a branch goes on. */
  next(branch: string): string {
    return `${this.start(branch)}.h-${randomBytes(8).toString("hex")}`;
  }

  /** Returns the header of a session in which a branch begins or goes on. */
  header(branch: string, id: string, generation: number) {
    const label = LABEL.test(branch) && branch.toLowerCase() !== "last" ? branch : undefined;
    const title = branch === MAIN ? this.sessionId : `${this.sessionId}: ${branch}`;
    const named = { session: this.sessionId, branch, generation };
    const metadata = { [METADATA]: named };
    if (label === undefined) {
      return { title, metadata };
    }
    const isStart = id === this.start(branch);
    return { title, metadata, label: isStart ? label : `${label}.${id.slice(-8)}` };
  }
}

/** Returns the first 32 hex digits of the SHA-256 of a text. Half a surrogate pair counts as 3 bytes. */
function hash(text: string): string {
  return createHash("sha256").update(bytes(text)).digest("hex").slice(0, 32);
}

function bytes(text: string): Uint8Array {
  const parts = Array.from(text, (character) => {
    const unit = character.charCodeAt(0);
    const isHalf = character.length === 1 && unit >= 0xd800 && unit <= 0xdfff;
    return isHalf
      ? Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
      : Buffer.from(character);
  });
  return Buffer.concat(parts);
}
