import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { assistant, Store, toolCall, toolResult, user } from "forklore";
import { AkCoderSessions, type ChatMessage, type LLMCallRecord } from "forklore/ak-coder";

import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

const STEPS: ChatMessage[] = [
  { role: "user", content: "step 1" },
  { role: "assistant", content: "res 1" },
  { role: "user", content: "step 2" },
];
const TOOLS: ChatMessage[] = [
  { role: "system", content: "be brief" },
  { role: "user", content: "turn 1", images: ["aGk="] },
  {
    role: "assistant",
    content: "calling tool",
    tool_calls: [
      { id: "t1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } },
      { id: "t2", type: "function", function: { name: "bash", arguments: "not JSON" } },
    ],
  },
  { role: "tool", tool_call_id: "t1", name: "read_file", content: "file contents" },
  { role: "tool", content: "without an id" },
  { role: "assistant", content: "", tool_calls: [] },
];

/** Returns a record of a call whose prompt is a session's history and something else. */
function call(sessionId: string, prompt: ChatMessage[]): LLMCallRecord {
  return {
    timestamp: "2026-01-02T03:04:05.678Z",
    sessionId,
    model: "gemma4:12b-mlx",
    prompt,
    response: "test response",
    inputTokens: 10,
    outputTokens: 20,
    cost: 0.00035,
    latencyMs: 150,
  };
}

test("a session comes back as it was saved", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("sess-1", TOOLS);
  assert.deepEqual(await sessions.loadSession("sess-1"), TOOLS);
  await sessions.saveSession("empty", []);
  assert.deepEqual(await sessions.loadSession("empty"), []);
  await assert.rejects(sessions.loadSession("other"), { kind: "not_found" });
  const records = await collect(sessions.store.replay({ session_id: "sess-1" }));
  assert.deepEqual(records[2]?.content, [
    { type: "text", text: "calling tool" },
    { type: "tool_call", id: "t1", name: "read_file", arguments: { path: "a" } },
    { type: "tool_call", id: "t2", name: "bash", arguments: "not JSON" },
  ]);
});

test("a save appends what is new", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  for (let count = 0; count <= TOOLS.length; count += 1) {
    await sessions.saveSession("grows", TOOLS.slice(0, count));
  }
  const { session } = await sessions.store.show({ session_id: "grows" });
  assert.equal(session.own_events, TOOLS.length);
  await sessions.saveSession("grows", TOOLS);
  assert.deepEqual(await sessions.loadSession("grows"), TOOLS);
});

test("the sessions of a workspace are listed, the latest first", async (context) => {
  const store = await inMemory(context);
  const sessions = new AkCoderSessions(store, WORKSPACE);
  const others = new AkCoderSessions(store, "/work/other");
  await sessions.saveSession("123456-abc", STEPS);
  await sessions.saveSession("789012-def", STEPS);
  await others.saveSession("123456-abc", TOOLS);
  await others.saveSession("no id: \ud83d\ude00/", TOOLS);
  await sessions.truncateSession("123456-abc", 1);
  const ids = async (one: AkCoderSessions) =>
    (await one.listSessions()).map(({ sessionId }) => sessionId);
  assert.deepEqual(await ids(sessions), ["123456-abc", "789012-def"]);
  assert.deepEqual((await ids(others)).sort(), ["123456-abc", "no id: \ud83d\ude00/"]);
  assert.deepEqual(await others.loadSession("123456-abc"), TOOLS);
  assert.deepEqual(await others.loadSession("no id: \ud83d\ude00/"), TOOLS);
  assert.deepEqual(await sessions.loadSession("123456-abc"), STEPS.slice(0, 1));
});

test("a fork includes the message with the index", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("original", STEPS);
  const forked = await sessions.forkSession("original", 1, "forked");
  assert.deepEqual(forked, STEPS.slice(0, 2));
  assert.deepEqual(await sessions.loadSession("forked"), STEPS.slice(0, 2));
  const branch = [...STEPS.slice(0, 2), { role: "user", content: "another" } as const];
  await sessions.saveSession("forked", branch);
  assert.deepEqual(await sessions.loadSession("forked"), branch);
  assert.deepEqual(await sessions.loadSession("original"), STEPS);
  const { common } = await sessions.store.diff({ a: "original", b: "forked" });
  assert.equal(common, 2);
});

test("the index counts raw messages, also inside a turn", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("tools", TOOLS);
  for (const index of TOOLS.keys()) {
    const forked = await sessions.forkSession("tools", index, `at-${index}`);
    assert.deepEqual(forked, TOOLS.slice(0, index + 1));
  }
});

test("an index out of bounds is refused", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("original", STEPS);
  for (const index of [-1, 3, 1.5, Number.NaN]) {
    await assert.rejects(sessions.forkSession("original", index, "forked"), {
      kind: "invalid_args",
      message: `turn index ${index} is out of bounds (history size: 3)`,
    });
  }
  await assert.rejects(sessions.forkSession("other", 0, "forked"), { kind: "not_found" });
  await assert.rejects(sessions.forkSession("original", 0, "original"), {
    kind: "already_exists",
  });
  assert.equal((await sessions.listSessions()).length, 1);
});

test("a fork without an id has the name of its original and the time", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("original", STEPS);
  const forks = Array.from({ length: 8 }, () => sessions.fork("original", 0));
  const names = await Promise.all(forks);
  assert.equal(new Set(names).size, 8);
  for (const name of names) {
    assert.match(name, /^fork-original-\d{13}$/);
    assert.deepEqual(await sessions.loadSession(name), STEPS.slice(0, 1));
  }
  let name = "original";
  for (let level = 0; level < 20; level += 1) {
    name = await sessions.fork(name, 0);
  }
  assert.deepEqual(await sessions.loadSession(name), STEPS.slice(0, 1));
});

test("a rewound session goes on, and what it had is not lost", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  const sessions = new AkCoderSessions(store, WORKSPACE);
  await sessions.saveSession("rewound", STEPS);
  await sessions.truncateSession("rewound", 10);
  assert.deepEqual(await sessions.loadSession("rewound"), STEPS);
  await sessions.truncateSession("rewound", 2);
  assert.deepEqual(await sessions.loadSession("rewound"), STEPS.slice(0, 2));
  const summary: ChatMessage = { role: "system", content: "summary of the conversation" };
  const later = [summary, ...STEPS.slice(1)];
  await sessions.saveSession("rewound", later);
  // Another process.
  await using again = await Store.open(url);
  const others = new AkCoderSessions(again, WORKSPACE);
  assert.deepEqual(await others.loadSession("rewound"), later);
  await others.saveSession("rewound", [...later, { role: "user", content: "more" }]);
  assert.equal((await sessions.loadSession("rewound")).length, 4);
  assert.equal((await sessions.forkSession("rewound", 3, "fork")).length, 4);
  const first = await collect(store.replay({ session_id: "rewound" }));
  assert.deepEqual(first.map((record) => record.content), ["step 1", "res 1", "step 2"]);
});

test("calls are recorded with their prompts", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  const alone = call("sess-123", [{ role: "user", content: "test prompt" }]);
  await sessions.recordCall(alone);
  assert.deepEqual(await sessions.getCallRecords(), [alone]);
  await sessions.saveSession("long", STEPS);
  const second = call("long", [{ role: "system", content: "x".repeat(50) }, ...STEPS]);
  await sessions.recordCall(second);
  await sessions.truncateSession("long", 1);
  const third = { ...call("long", STEPS.slice(0, 1)), timestamp: "2026-01-03T00:00:00Z" };
  await sessions.recordCall(third);
  const records = await sessions.getCallRecords();
  assert.equal(records.length, 3);
  assert.deepEqual(records.at(-1), third);
  assert.ok(records.some(({ prompt }) => prompt.length === 4));
  for (const record of [alone, second]) {
    assert.ok(records.some((one) => JSON.stringify(one) === JSON.stringify(record)));
  }
  assert.deepEqual(await sessions.loadSession("long"), STEPS.slice(0, 1));
  const { usage } = await sessions.store.stats({ scope: "everything", models: true });
  assert.equal(usage?.input, 30);
});

test("a session of another agent is loaded and forked", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "other", workspace: WORKSPACE });
  const events = [
    user("look"),
    toolCall("c1", "read", { path: "a" }),
    toolResult("c1", "text", { name: "read" }),
    assistant("done"),
  ];
  await store.append({ session_id: "other", batch: { events } });
  const sessions = new AkCoderSessions(store, WORKSPACE);
  const loaded = await sessions.loadSession("other");
  assert.deepEqual(loaded, [
    { role: "user", content: "look" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", name: "read", content: "text" },
    { role: "assistant", content: "done" },
  ]);
  assert.deepEqual(await sessions.forkSession("other", 0, "branch"), loaded.slice(0, 1));
  await sessions.saveSession("other", [...loaded, { role: "user", content: "more" }]);
  assert.equal((await store.show({ session_id: "other" })).session.own_events, 5);
});

test("bad messages are refused, and nothing is lost", async (context) => {
  const sessions = new AkCoderSessions(await inMemory(context), WORKSPACE);
  await sessions.saveSession("original", STEPS);
  const bad = { role: "user", content: Number.NaN } as unknown as ChatMessage;
  await assert.rejects(sessions.saveSession("original", [bad]), { kind: "invalid_args" });
  assert.deepEqual(await sessions.loadSession("original"), STEPS);
});
