import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { assistant, event, Store, SyncStore, system, toolCall, toolResult, user } from "forklore";

import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

test("a fork shares the history and goes on alone", async (context) => {
  const store = await inMemory(context);
  const { session } = await store.new({ id: "plan", workspace: WORKSPACE, title: "The plan" });
  assert.equal(session.id, "plan");
  const events = [user("plan A or plan B?"), assistant("plan A")];
  assert.deepEqual(await store.append({ session_id: "plan", batch: { events } }), {
    session_id: "plan",
    from_seq: 0,
    to_seq: 1,
    head_seq: 1,
  });
  const fork = await store.fork({ parent_session_id: "plan", at: "message:0", id: "other" });
  assert.equal(fork.cut.index, 1);
  await store.append({ session_id: "other", batch: { events: [assistant("plan B")] } });

  const difference = await store.diff({ a: "plan", b: "other" });
  assert.equal(difference.common, 1);
  assert.deepEqual(difference.only_a.map((record) => record.content), ["plan A"]);
  assert.deepEqual(difference.only_b.map((record) => record.content), ["plan B"]);
  const { branches } = await store.branches({ session_id: "plan" });
  assert.deepEqual(branches.map((branch) => branch.session_id), ["plan", "other"]);
});

test("an event comes back as it was appended", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "all", workspace: WORKSPACE });
  const events = [
    system("be brief"),
    user([{ type: "text", text: "look" }], { injected: true }),
    toolCall("c1", "read", { path: "a.txt", deep: [[1.5, true, null, {}]] }),
    toolResult("c1", "\u0000 \ud83d\ude00 \ud800", { name: "read", is_error: true }),
    event("x.note", { "": -0.1e-7, "\n": "\u2028" }, { id: "n1", class: "evidence" }),
  ];
  await store.append({ session_id: "all", batch: { events } });
  const lines = await collect(store.log({ session_id: "all" }));
  assert.deepEqual(
    lines.map(({ type, data }) => ({ type, data })),
    events.map(({ type, data }) => ({ type, data })),
  );
  assert.equal(lines[4]?.id, "n1");
});

test("a long answer is read in pages", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "long", workspace: WORKSPACE });
  const texts = Array.from({ length: 700 }, (_, index) => `message ${index}`);
  await store.append({ session_id: "long", batch: { events: texts.map((text) => user(text)) } });
  const records = await collect(store.replay({ session_id: "long" }));
  assert.deepEqual(records.map((record) => record.content), texts);
  for await (const record of store.replay({ session_id: "long" })) {
    assert.equal(record.content, "message 0");
    break;
  }
  const part = await collect(store.log({ session_id: "long", range: { from: 698 } }));
  assert.deepEqual(part.map((line) => line.seq), [698, 699]);
});

test("bytes are attached and read", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "image", workspace: WORKSPACE });
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
  const attachment = { name: "a.png", media_type: "image/png" };
  const attached = await store.attach({ session_id: "image", attachment }, bytes);
  assert.equal(attached.bytes, bytes.length);
  const read = await store.readAttachment({ session_id: "image", ref: "a.png" });
  assert.deepEqual(new Uint8Array(read), bytes);
  const markdown = await store.export({ session_id: "image", to: { dialect: "markdown" } });
  assert.match(new TextDecoder().decode(markdown), /a\.png/);
});

test("a store is read by another connection after it was closed", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  {
    await using store = await Store.open(url);
    assert.equal(store.location, url);
    await store.new({ id: "plan", workspace: WORKSPACE });
  }
  using store = SyncStore.open(url);
  assert.equal(store.show({ session_id: "plan" }).session.workspace, WORKSPACE);
});

test("the blocking store has every verb", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  using store = SyncStore.open(url);
  store.new({ id: "plan", workspace: WORKSPACE });
  const events = Array.from({ length: 300 }, (_, index) => user(`message ${index}`));
  store.append({ session_id: "plan", batch: { events } });
  assert.equal([...store.log({ session_id: "plan" })].length, 300);
  store.attach({ session_id: "plan", attachment: { name: "a" } }, Buffer.from("bytes"));
  const read = store.readAttachment({ session_id: "plan", ref: "a" });
  assert.equal(Buffer.from(read).toString(), "bytes");
  assert.throws(() => store.show({ session_id: "other" }), { kind: "not_found" });
  store.close();
  assert.throws(() => store.list(), { kind: "invalid_args" });
  const verbs = Object.getOwnPropertyNames(Object.getPrototypeOf(Store.prototype));
  for (const verb of verbs.filter((name) => name !== "constructor")) {
    assert.equal(typeof store[verb as "show"], "function", verb);
  }
});

test("calls run at the same time", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  const ids = Array.from({ length: 40 }, (_, index) => `session-${index}`);
  await Promise.all(ids.map((id) => store.new({ id, workspace: WORKSPACE })));
  await Promise.all(
    ids.map((id) => store.append({ session_id: id, batch: { events: [user(id)] } })),
  );
  const { sessions } = await store.list({ limit: 0 });
  assert.deepEqual(new Set(sessions.map((session) => session.id)), new Set(ids));
  assert.deepEqual(new Set(sessions.map((session) => session.head_seq)), new Set([0]));
});
