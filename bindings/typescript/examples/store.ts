/** Forks a session, compares the branches, and goes on in one of them. */
import { assistant, Store, user } from "forklore";

await using store = await Store.open(process.argv[2] ?? "memory:");
const workspace = process.cwd();

const { session } = await store.new({ workspace, title: "Where to?" });
await store.append({
  session_id: session.id,
  batch: { events: [user("Oslo or Rome?"), assistant("Rome is warmer.")] },
});

const fork = await store.fork({ parent_session_id: session.id, at: "message:0" });
await store.append({
  session_id: fork.child_session_id,
  batch: { events: [assistant("Oslo has the fjord."), user("Oslo then.")] },
});

const difference = await store.diff({ a: session.id, b: fork.child_session_id });
console.log(`common: ${difference.common}`);
console.log("only in the session:", difference.only_a.map((record) => record.content));
console.log("only in the fork:", difference.only_b.map((record) => record.content));

for await (const record of store.replay({ session_id: fork.child_session_id })) {
  console.log(`${record.role}: ${String(record.content)}`);
}
