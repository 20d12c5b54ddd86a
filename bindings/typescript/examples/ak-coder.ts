/** Forks a session of ak-coder, rewinds it, and compares. */
import { Store } from "forklore";
import { AkCoderSessions, type ChatMessage } from "forklore/ak-coder";

await using store = await Store.open(process.argv[2] ?? "memory:");
const sessions = new AkCoderSessions(store);

const history: ChatMessage[] = [
  { role: "user", content: "Add a test" },
  { role: "assistant", content: "Done." },
  { role: "user", content: "Now fix the bug" },
];
await sessions.saveSession("session-1", history);

const fork = await sessions.fork("session-1", 1);
const messages = await sessions.loadSession(fork);
await sessions.saveSession(fork, [...messages, { role: "user", content: "Rather refactor" }]);
const { common, only_a, only_b } = await store.diff({ a: "session-1", b: fork });
console.log(`common: ${common}`);
console.log("session-1:", only_a.map((record) => record.content));
console.log("fork:", only_b.map((record) => record.content));

await sessions.truncateSession("session-1", 1);
console.log(`session-1 goes on with ${(await sessions.loadSession("session-1")).length} message`);
console.log(`sessions: ${(await sessions.listSessions()).length}`);
