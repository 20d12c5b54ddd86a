/** Mirrors a session of Claude Code, forks it, and compares. No program and no network is needed. */
import { getSessionMessages, type SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { Store } from "forklore";
import { ForkloreSessionStore } from "forklore/claude";

await using store = await Store.open(process.argv[2] ?? "memory:");
const sessionStore = new ForkloreSessionStore(store);
const key = {
  projectKey: process.cwd().replace(/[^A-Za-z0-9]/g, "-"),
  sessionId: "11111111-1111-4111-8111-111111111111",
};

/** Returns a record as Claude Code writes it. */
function record(number: number, type: "user" | "assistant", content: string): SessionStoreEntry {
  const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const parentUuid = number > 1 ? uuid(number - 1) : null;
  const timestamp = `2026-01-01T00:00:0${number}.000Z`;
  const { sessionId } = key;
  const message = { role: type, content };
  return { type, uuid: uuid(number), parentUuid, timestamp, sessionId, cwd: process.cwd(), message };
}

// `query({ prompt, options: { sessionStore } })` calls this with what Claude Code writes.
await sessionStore.append(key, [
  record(1, "user", "Oslo or Rome?"),
  record(2, "assistant", "Rome."),
  record(3, "user", "Why?"),
]);

const { sessionId } = await sessionStore.fork(key, { upToMessageId: record(2, "user", "").uuid! });
await sessionStore.append({ ...key, sessionId }, [
  { ...record(3, "user", "And by train?"), uuid: "00000000-0000-4000-8000-000000000009", sessionId },
]);

const a = (await sessionStore.forkloreSessionId(key))!;
const b = (await sessionStore.forkloreSessionId({ ...key, sessionId }))!;
const { common, only_a, only_b } = await store.diff({ a, b });
console.log(`common: ${common}`);
console.log(only_a.map((one) => one.content), only_b.map((one) => one.content));

const messages = await getSessionMessages(sessionId, { sessionStore });
console.log(`the SDK resumes the fork with ${messages.length} messages`);
