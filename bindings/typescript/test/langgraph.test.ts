import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import {
  AIMessage,
  AIMessageChunk,
  type AIMessageFields,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { emptyCheckpoint, JsonPlusSerializer, uuid6 } from "@langchain/langgraph-checkpoint";
import { Store } from "forklore";
import { ForkloreSaver } from "forklore/langgraph";

import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

async function saverOf(...args: Parameters<typeof inMemory>): Promise<ForkloreSaver> {
  return new ForkloreSaver(await inMemory(...args), { workspace: WORKSPACE });
}

/** Returns a graph that answers each message with the number of messages before. */
function counting(checkpointer: ForkloreSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", ({ messages }) => ({
      messages: [new AIMessage(`answer to ${messages.length}`)],
    }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ checkpointer });
}

const thread = (thread_id: string) => ({ configurable: { thread_id } });
const ask = (text: string) => ({ messages: [new HumanMessage(text)] });
const texts = (messages: BaseMessage[]) => messages.map((message) => message.content);

test("the published suite for savers passes completely", () => {
  const vitest = join(PACKAGE, "node_modules", "vitest", "vitest.mjs");
  const patience = ["--testTimeout", "120000", "--hookTimeout", "120000"];
  const form = ["--globals", "--root", PACKAGE, "--reporter", "json"];
  const args = [vitest, "run", ...form, ...patience, "conformance/"];
  const ran = spawnSync(process.execPath, args, { encoding: "utf8" });
  const report = JSON.parse(ran.stdout.slice(ran.stdout.indexOf("{"))) as Record<string, number>;
  const { numPassedTests, numTotalTests } = report;
  assert.deepEqual({ numPassedTests, numTotalTests }, { numPassedTests: 718, numTotalTests: 718 });
  assert.equal(ran.status, 0);
});

test("a thread is a session whose messages are its conversation", async (context) => {
  const saver = await saverOf(context);
  const graph = counting(saver);
  await graph.invoke(ask("one"), thread("t"));
  const state = await graph.invoke(ask("two"), thread("t"));
  assert.deepEqual(texts(state.messages), ["one", "answer to 1", "two", "answer to 3"]);
  const { sessions } = await saver.store.list();
  assert.equal(sessions.length, 1);
  const records = await collect(saver.store.replay({ session_id: sessions[0]!.id }));
  const messages = records.map(({ role, content }) => [role, content]);
  assert.deepEqual(messages, [
    ["user", "one"],
    ["assistant", "answer to 1"],
    ["user", "two"],
    ["assistant", "answer to 3"],
  ]);
  assert.equal((await saver.store.search({ query: "answer" })).hits.length, 2);
});

test("a run from an earlier checkpoint is a fork", async (context) => {
  const saver = await saverOf(context);
  const graph = counting(saver);
  await graph.invoke(ask("one"), thread("t"));
  await graph.invoke(ask("two"), thread("t"));
  const history = await collect(await graph.getStateHistory(thread("t")));
  const earlier = history.find((state) => state.values.messages?.length === 2 && !state.next.length);
  const other = await graph.invoke(ask("another"), earlier!.config);
  assert.deepEqual(texts(other.messages), ["one", "answer to 1", "another", "answer to 3"]);
  const { sessions } = await saver.store.list();
  assert.equal(sessions.length, 2);
  const [a, b] = sessions.map((session) => session.id);
  const { common } = await saver.store.diff({ a: a!, b: b! });
  assert.equal(common, 2);
  // The old branch can be read and continued.
  const old = history[0]!;
  const again = await graph.getState(old.config);
  assert.deepEqual(texts(again.values.messages), texts(old.values.messages));
  await graph.invoke(ask("three"), old.config);
  assert.equal((await saver.store.list()).sessions.length, 2);
});

test("a run goes on after an interrupt in another process", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  const build = (store: Store) =>
    new StateGraph(Annotation.Root({ name: Annotation<string>, count: Annotation<number> }))
      .addNode("ask", () => ({ name: interrupt<string, string>("your name?"), count: 1 }))
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile({ checkpointer: new ForkloreSaver(store) });
  {
    await using store = await Store.open(url);
    const stopped = await build(store).invoke({ name: "" }, thread("t"));
    assert.ok("__interrupt__" in stopped);
  }
  await using store = await Store.open(url);
  const graph = build(store);
  const done = await graph.invoke(new Command({ resume: "Ada" }), thread("t"));
  assert.deepEqual(done, { name: "Ada", count: 1 });
});

test("every message comes back as it was", async (context) => {
  const saver = await saverOf(context);
  const messages: unknown[] = [
    new SystemMessage({ content: [{ type: "text", text: "be brief" }], id: "s1" }),
    new HumanMessage({ content: "hi", name: "ada", additional_kwargs: { a: [1, null] } }),
    new AIMessage({
      content: "I look.",
      id: "a1",
      tool_calls: [{ name: "read", args: { path: "a" }, id: "c1", type: "tool_call" }],
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      response_metadata: { model: "m" },
    } as object as AIMessageFields),
    new AIMessage({
      content: [{ type: "text", text: "more" }],
      tool_calls: [{ name: "read", args: {}, id: "c2", type: "tool_call" }],
      invalid_tool_calls: [{ name: "bad", args: "{", id: "c3", error: "no JSON" }],
    }),
    new ToolMessage({ content: "text", tool_call_id: "c1", name: "read", artifact: { x: 1 } }),
    new ToolMessage({ content: "no", tool_call_id: "c2", status: "error" }),
    new ChatMessage("hello", "user"),
    new ChatMessage("odd", "narrator"),
    new AIMessageChunk({ content: "part", tool_call_chunks: [] }),
    { role: "user", content: "plain" },
    { role: "assistant", content: null, tool_calls: [{ id: "o", function: { name: "f" } }] },
    { role: "tool", content: "result", tool_call_id: "o" },
    { role: "user", content: "x", lg: "ref", key: "trap" },
    { lg: "typed", type: "json", data: "" },
    "text",
    { when: new Date(0), set: new Set([1]), nothing: undefined, bytes: new Uint8Array([1, 2]) },
  ];
  const checkpoint = emptyCheckpoint();
  checkpoint.channel_values = { messages, one: messages[2], nested: { deep: [messages[1]] } };
  checkpoint.channel_versions = { messages: 1, one: 1, nested: 1 };
  const metadata = { source: "update", step: 0, parents: {} } as const;
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const stored = await saver.put(config, checkpoint, metadata, checkpoint.channel_versions);
  const serde = new JsonPlusSerializer();
  const [kind, data] = await serde.dumpsTyped(checkpoint.channel_values);
  const expected: unknown = await serde.loadsTyped(kind, data);
  const read = await saver.getTuple(stored);
  const values = read!.checkpoint.channel_values;
  assert.deepEqual(JSON.parse(JSON.stringify(values)), JSON.parse(JSON.stringify(expected)));
  const found = values["messages"] as object[];
  assert.deepEqual(
    found.map((one) => one.constructor.name),
    (expected as { messages: object[] }).messages.map((one) => one.constructor.name),
  );
  assert.ok((found[15] as { set: unknown }).set instanceof Set);
  assert.ok("nothing" in found[15]!);
});

test("a list is stored as what a checkpoint adds, also if a message changes", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  const saver = new ForkloreSaver(store);
  const messages = Array.from({ length: 200 }, (_, at) => new HumanMessage("x".repeat(900) + at));
  let config: Parameters<ForkloreSaver["put"]>[0] = {
    configurable: { thread_id: "t", checkpoint_ns: "" },
  };
  for (let count = 1; count <= messages.length; count += 1) {
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(count) };
    checkpoint.channel_values = { messages: messages.slice(0, count) };
    checkpoint.channel_versions = { messages: count };
    const metadata = { source: "loop", step: count, parents: {} } as const;
    config = await saver.put(config, checkpoint, metadata, { messages: count });
  }
  const [family] = (await store.list()).sessions;
  assert.ok(family!.own_bytes < 3 * 200 * 1000, `${family!.own_bytes} bytes`);
  messages[0]!.content = "changed in place";
  const changed = { ...emptyCheckpoint(), id: uuid6(999) };
  changed.channel_values = { messages };
  changed.channel_versions = { messages: 999 };
  const metadata = { source: "loop", step: 999, parents: {} } as const;
  await saver.put(config, changed, metadata, { messages: 999 });
  const [last, before] = await collect(saver.list(thread("t"), { limit: 2 }));
  const first = (tuple: typeof last) =>
    (tuple!.checkpoint.channel_values["messages"] as BaseMessage[])[0]!.content;
  assert.equal(first(last), "changed in place");
  assert.equal(first(before), `${"x".repeat(900)}0`);
});

test("threads are copied, pruned and deleted", async (context) => {
  const saver = await saverOf(context);
  const graph = counting(saver);
  await graph.invoke({ ...ask("one") }, { ...thread("a"), runId: "r1" });
  await saver.copyThread("a", "b");
  await graph.invoke(ask("two"), thread("b"));
  assert.equal((await graph.getState(thread("a"))).values.messages.length, 2);
  assert.equal((await graph.getState(thread("b"))).values.messages.length, 4);
  await saver.prune(["b"]);
  assert.equal((await collect(saver.list(thread("b")))).length, 1);
  await saver.deleteThread("a");
  assert.equal(await saver.getTuple(thread("a")), undefined);
  assert.equal((await graph.getState(thread("b"))).values.messages.length, 4);
  await assert.rejects(saver.copyThread("nothing", "c"), { kind: "not_found" });
  await assert.rejects(saver.copyThread("b", "b"), { kind: "already_exists" });
});

test("a store with a saver is closed completely", async (context) => {
  const path = folder(context);
  const store = await Store.open(`sqlite:${join(path, "sessions.db")}`);
  await counting(new ForkloreSaver(store)).invoke(ask("one"), thread("t"));
  for await (const line of store.log({ session_id: (await store.list()).sessions[0]!.id })) {
    assert.equal(line.seq, 0);
    break;
  }
  await store.close();
  assert.ok(!readdirSync(path).includes("sessions.db-wal"), readdirSync(path).join());
});

test("a value that JSON does not have is refused, and nothing is stored", async (context) => {
  const saver = await saverOf(context);
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const metadata = { source: "update", step: 0, parents: {} } as const;
  for (const value of [Number.NaN, -Infinity, 1n]) {
    const checkpoint = { ...emptyCheckpoint(), channel_values: { value } };
    const put = saver.put(config, checkpoint, metadata, { value: 1 });
    await assert.rejects(put, { kind: "invalid_args" });
    await assert.rejects(saver.put({}, checkpoint, metadata, {}), { kind: "invalid_args" });
  }
  await assert.rejects(saver.putWrites(config, [["a", 1]], "task"), { kind: "invalid_args" });
  assert.equal(await saver.getTuple(config), undefined);
  await saver.store.close();
  await assert.rejects(saver.getTuple(config), { kind: "invalid_args" });
});
