import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import {
  Agent,
  MemorySession,
  run,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type Session,
  Usage,
} from "@openai/agents-core";
import { assistant, Store, toolCall, toolResult, user } from "forklore";
import { ForkloreSession } from "forklore/openai-agents";

import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

const asks = (text: string): AgentInputItem => ({ role: "user", content: text });
const answers = (text: string): AgentInputItem => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, providerData: { annotations: [] } }],
});

const ALL: AgentInputItem[] = [
  { role: "system", content: "be brief" },
  { role: "user", content: [{ type: "input_text", text: "which weather?" }] },
  { role: "user", content: [{ type: "input_image", image: "https://example.com/a.png" }] },
  { type: "reasoning", id: "r1", content: [{ type: "input_text", text: "I look." }] },
  { type: "function_call", callId: "c1", name: "weather", arguments: '{"city":"Oslo"}' },
  {
    type: "function_call_result",
    callId: "c1",
    name: "weather",
    status: "completed",
    output: { type: "text", text: "rain" },
  },
  {
    type: "hosted_tool_call",
    id: "h1",
    name: "web_search_call",
    status: "completed",
    output: "found",
  },
  { type: "shell_call", callId: "s1", action: { commands: ["ls"] } },
  {
    type: "shell_call_output",
    callId: "s1",
    output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  { type: "compaction", encrypted_content: "secret" },
  { type: "unknown", providerData: { type: "new_thing", value: [1.5, null] } },
  answers("It rains."),
];

test("items come back as they were added", async (context) => {
  const store = await inMemory(context);
  const session = new ForkloreSession({ store, sessionId: "weather" });
  assert.deepEqual(await session.getItems(), []);
  assert.equal(await session.popItem(), undefined);
  await session.clearSession();
  await session.addItems([]);
  await session.addItems(ALL.slice(0, 5));
  await session.addItems(ALL.slice(5));
  assert.deepEqual(await session.getItems(), ALL);
  assert.deepEqual(await session.getItems(3), ALL.slice(-3));
  assert.deepEqual(await session.getItems(0), []);
  assert.deepEqual(await session.getItems(100), ALL);
  assert.equal(await session.getSessionId(), "weather");
  assert.equal(await session.forkloreSessionId(), "weather");
});

test("it does what the SDK's own session does", async (context) => {
  const store = await inMemory(context);
  const mine: Session = new ForkloreSession({ store, sessionId: "Any id, even this one: ü" });
  const theirs: Session = new MemorySession({ sessionId: "any" });
  const compare = async () => {
    assert.deepEqual(await mine.getItems(), await theirs.getItems());
    for (const limit of [0, 1, 2, 1000]) {
      assert.deepEqual(await mine.getItems(limit), await theirs.getItems(limit));
    }
  };
  for (let step = 0; step < 40; step += 1) {
    if (step % 7 === 3) {
      assert.deepEqual(await mine.popItem(), await theirs.popItem());
    } else if (step === 25) {
      await mine.clearSession();
      await theirs.clearSession();
    } else {
      const items = ALL.slice(step % ALL.length, (step % ALL.length) + (step % 3));
      await mine.addItems(items);
      await theirs.addItems(items);
    }
    await compare();
  }
});

test("popped items remain in the sessions before", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  const session = new ForkloreSession({ store, sessionId: "trip", workspace: WORKSPACE });
  await session.addItems([asks("Oslo"), answers("yes"), asks("Rome")]);
  assert.deepEqual(await session.popItem(), asks("Rome"));
  await session.addItems([asks("Bergen")]);
  const head = await session.forkloreSessionId();
  assert.match(head ?? "", /^trip\.h-[0-9a-f]{16}$/);
  const difference = await store.diff({ a: "trip", b: head! });
  assert.equal(difference.common, 2);
  assert.deepEqual(difference.only_a.map((record) => record.content), ["Rome"]);
  assert.deepEqual(difference.only_b.map((record) => record.content), ["Bergen"]);
  // Another process finds where the conversation goes on.
  await using again = await Store.open(url);
  const later = new ForkloreSession({ store: again, sessionId: "trip" });
  assert.deepEqual(await later.getItems(), [asks("Oslo"), answers("yes"), asks("Bergen")]);
  await later.clearSession();
  assert.deepEqual(await session.getItems(), []);
  await session.addItems([asks("Paris")]);
  assert.deepEqual(await later.getItems(), [asks("Paris")]);
});

test("a branch has what is before a turn", async (context) => {
  const store = await inMemory(context);
  const session = new ForkloreSession({ store, sessionId: "trip" });
  await session.addItems([asks("Oslo"), answers("yes"), asks("Rome"), answers("no")]);
  const branch = await session.fork(2, "cheaper");
  assert.deepEqual(await branch.getItems(), [asks("Oslo"), answers("yes")]);
  await branch.addItems([asks("Bergen")]);
  assert.equal((await session.getItems()).length, 4);
  const empty = await branch.fork(1, "fresh");
  assert.deepEqual(await empty.getItems(), []);

  const { branches } = await store.branches({ session_id: "trip" });
  assert.deepEqual(branches.map(({ label }) => label), ["main", "cheaper", "fresh"]);
  const again = new ForkloreSession({ store, sessionId: "trip", branch: "cheaper" });
  assert.equal((await again.getItems()).length, 3);
  await again.popItem();
  await again.popItem();
  assert.deepEqual(await branch.getItems(), [asks("Oslo")]);
  await assert.rejects(session.fork(2, "cheaper"), { kind: "already_exists" });
  await assert.rejects(session.fork(9, "late"), { kind: "invalid_args" });
  await session.clearSession();
  await assert.rejects(branch.getItems(), { kind: "not_found" });
});

test("two writers lose nothing", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  const stores = await Promise.all([Store.open(url), Store.open(url)]);
  context.after(() => Promise.all(stores.map((store) => store.close())));
  const sessions = stores.map((store) => new ForkloreSession({ store, sessionId: "both" }));
  await Promise.all(
    sessions.map(async (session, writer) => {
      for (let number = 0; number < 20; number += 1) {
        await session.addItems([asks(`${writer}:${number}`)]);
        if (number % 5 === 4) {
          await session.addItems([asks("back")]);
          await session.popItem();
        }
      }
    }),
  );
  const items = (await sessions[0]!.getItems()).map((item) => "content" in item && item.content);
  const others = await sessions[1]!.getItems();
  assert.equal(others.length, items.length);
  // A writer may pop what the other one added, but each pop takes exactly one item.
  assert.equal(items.length, 40);
});

test("a conversation of another agent goes on", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "other", workspace: WORKSPACE });
  const events = [
    user("look"),
    toolCall("c1", "read", { path: "a.txt" }),
    toolResult("c1", "text of a"),
    assistant([{ type: "text", text: "done" }]),
  ];
  await store.append({ session_id: "other", batch: { events } });
  const session = new ForkloreSession({ store, sessionId: "other" });
  const read = [
    asks("look"),
    {
      type: "function_call",
      callId: "c1",
      name: "read",
      arguments: '{"path":"a.txt"}',
      status: "completed",
    },
    {
      type: "function_call_result",
      callId: "c1",
      name: "read",
      status: "completed",
      output: { type: "text", text: "text of a" },
    },
    { role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] },
  ];
  assert.deepEqual(await session.getItems(), read);
  assert.deepEqual(await session.popItem(), read.pop());
  assert.deepEqual(await session.getItems(), read);
});

test("items of the SDK for Python are read", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "python", workspace: WORKSPACE });
  const call = { type: "function_call", call_id: "c1", name: "read", arguments: "{}" };
  const events = [
    user("look", { openai: { role: "user", content: "look" } }),
    toolCall("c1", "read", {}, { openai: { ...call, id: "fc1", status: "completed" } }),
    toolResult("c1", "text", {
      openai: { type: "function_call_output", call_id: "c1", output: "text" },
    }),
    assistant([{ type: "text", text: "done" }], {
      openai: {
        id: "m1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "done", annotations: [] }],
      },
    }),
  ];
  await store.append({ session_id: "python", batch: { events } });
  const session = new ForkloreSession({ store, sessionId: "python" });
  assert.deepEqual(await session.getItems(), [
    asks("look"),
    {
      type: "function_call",
      id: "fc1",
      callId: "c1",
      name: "read",
      arguments: "{}",
      status: "completed",
    },
    {
      type: "function_call_result",
      callId: "c1",
      name: "read",
      status: "completed",
      output: { type: "text", text: "text" },
    },
    { ...answers("done"), id: "m1" },
  ]);
});

test("forklore's verbs read the items", async (context) => {
  const store = await inMemory(context);
  const session = new ForkloreSession({ store, sessionId: "weather" });
  await session.addItems(ALL);
  const records = await collect(store.replay({ session_id: "weather" }));
  assert.equal(records.length, ALL.length);
  assert.equal(records[0]?.role, "system");
  const call = { type: "tool_call", id: "c1", name: "weather", arguments: { city: "Oslo" } };
  assert.deepEqual(records[4]?.content, [call]);
  const result = { type: "tool_result", call_id: "c1", content: "rain", name: "weather" };
  assert.deepEqual(records[5]?.content, [result]);
  assert.deepEqual(records.at(-1)?.content, [{ type: "text", text: "It rains." }]);
  const found = await store.search({ query: "weather" });
  assert.ok(found.hits.length > 0);
  const bytes = { type: "unknown", providerData: { data: new Uint8Array(3) } } as AgentInputItem;
  await assert.rejects(session.addItems([asks("before"), bytes]), { kind: "invalid_args" });
  assert.equal((await session.getItems()).length, ALL.length);
});

/** A model that counts its requests. */
class Echo implements Model {
  readonly requests: ModelRequest[] = [];
  getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const text = `answer ${this.requests.length}`;
    const output = [answers(text)] as ModelResponse["output"];
    return Promise.resolve({ usage: new Usage(), output });
  }
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("no stream");
  }
}

test("the SDK's runner goes on in a session", async (context) => {
  const store = await inMemory(context);
  const model = new Echo();
  const agent = new Agent({ name: "echo", model });
  const session = new ForkloreSession({ store, sessionId: "run" });
  assert.equal((await run(agent, "first", { session })).finalOutput, "answer 1");
  assert.equal((await run(agent, "second", { session })).finalOutput, "answer 2");
  const input = model.requests[1]?.input as AgentInputItem[];
  assert.equal(input.length, 3);
  assert.equal((await session.getItems()).length, 4);
  const branch = await session.fork(2, "other");
  await run(agent, "another second", { session: branch });
  assert.equal((await branch.getItems()).length, 4);
  const a = (await session.forkloreSessionId())!;
  const b = (await branch.forkloreSessionId())!;
  assert.equal((await store.diff({ a, b })).common, 2);
});
