import assert from "node:assert/strict";
import { test } from "node:test";

import type { ModelMessage, UIMessage } from "ai";
import { assistant, toolCall, toolResult, user } from "forklore";
import { Conversation } from "forklore/ai-sdk";

import { collect, inMemory, WORKSPACE } from "./temporary.js";

const MODEL: ModelMessage[] = [
  { role: "system", content: "be brief" },
  {
    role: "user",
    content: [
      { type: "text", text: "what is this?" },
      { type: "file", mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71]) },
      { type: "image", image: new URL("https://example.com/a.png") },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "I look.", providerOptions: { p: { signature: "s" } } },
      { type: "text", text: "I look." },
      { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } },
      { type: "tool-call", toolCallId: "c2", toolName: "list", input: {} },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "read",
        output: { type: "text", value: "text of a" },
      },
      {
        type: "tool-result",
        toolCallId: "c2",
        toolName: "list",
        output: { type: "error-json", value: { code: 1 } },
      },
    ],
  },
  { role: "assistant", content: "It is a." },
];

const SHOWN: UIMessage[] = [
  { id: "u1", role: "user", parts: [{ type: "text", text: "what is this?" }] },
  {
    id: "a1",
    role: "assistant",
    metadata: { model: "m" },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "I look.", state: "done" },
      {
        type: "tool-read",
        toolCallId: "c1",
        state: "output-available",
        input: { path: "a" },
        output: { text: "text of a" },
      },
      {
        type: "dynamic-tool",
        toolName: "list",
        toolCallId: "c2",
        state: "output-error",
        input: {},
        errorText: "no",
      },
      { type: "step-start" },
      { type: "text", text: "It is a.", state: "done" },
      { type: "source-url", sourceId: "s1", url: "https://example.com" },
    ],
  },
];

test("messages of models come back exactly", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "talk", workspace: WORKSPACE });
  assert.deepEqual(await conversation.modelMessages(), []);
  await conversation.append([]);
  await conversation.append(MODEL.slice(0, 2));
  await conversation.append(MODEL.slice(2));
  assert.deepEqual(await conversation.modelMessages(), MODEL);
  const again = new Conversation({ store, sessionId: "talk" });
  assert.deepEqual(await again.modelMessages(), MODEL);
});

test("calls and results of tools are forklore's own", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "talk" });
  await conversation.append(MODEL);
  const records = await collect(store.replay({ session_id: "talk" }));
  assert.deepEqual(records.slice(2, 5).map((record) => record.content), [
    [
      { type: "reasoning", text: "I look.", opaque: { type: "reasoning", text: "I look." } },
      { type: "text", text: "I look." },
      { type: "tool_call", id: "c1", name: "read", arguments: { path: "a" } },
      { type: "tool_call", id: "c2", name: "list", arguments: {} },
    ],
    [{ type: "tool_result", call_id: "c1", content: "text of a", name: "read" }],
    [{ type: "tool_result", call_id: "c2", content: '{"code":1}', name: "list", is_error: true }],
  ]);
  const { session } = await store.show({ session_id: "talk" });
  assert.equal(session.turns, 1);
});

test("messages that people see come back exactly", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "chat" });
  for (let count = 0; count <= SHOWN.length; count += 1) {
    await conversation.save(SHOWN.slice(0, count));
    assert.deepEqual(await conversation.uiMessages(), SHOWN.slice(0, count));
  }
  const { session } = await store.show({ session_id: "chat" });
  assert.equal(session.own_events, 2);
  const [, answer] = await collect(store.replay({ session_id: "chat" }));
  assert.deepEqual((answer?.content as unknown[]).slice(0, 5), [
    { type: "reasoning", text: "I look.", opaque: { type: "reasoning", text: "I look." } },
    { type: "tool_call", id: "c1", name: "read", arguments: { path: "a" } },
    { type: "tool_result", call_id: "c1", content: { text: "text of a" }, name: "read" },
    { type: "tool_call", id: "c2", name: "list", arguments: {} },
    { type: "tool_result", call_id: "c2", content: "no", name: "list", is_error: true },
  ]);
});

test("a changed message goes on in a fork, and the old one remains", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "chat" });
  await conversation.save(SHOWN);
  const other = { ...SHOWN[1]!, parts: SHOWN[1]!.parts.slice(0, 2) };
  await conversation.save([SHOWN[0]!, other]);
  assert.deepEqual(await conversation.uiMessages(), [SHOWN[0], other]);
  const head = await conversation.forkloreSessionId();
  const { common } = await store.diff({ a: "chat", b: head! });
  assert.equal(common, 1);
  const again = new Conversation({ store, sessionId: "chat" });
  assert.deepEqual(await again.uiMessages(), [SHOWN[0], other]);
});

test("a fork begins after any number of messages", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "talk" });
  await conversation.append(MODEL);
  for (let count = 0; count <= MODEL.length; count += 1) {
    const fork = await conversation.fork(count, `fork-${count}`);
    assert.deepEqual(await fork.modelMessages(), MODEL.slice(0, count));
  }
  const fork = await conversation.fork();
  await fork.append([{ role: "user", content: "more" }]);
  assert.equal((await fork.modelMessages()).length, MODEL.length + 1);
  assert.deepEqual(await conversation.modelMessages(), MODEL);
  await assert.rejects(conversation.fork(6), { kind: "invalid_args" });
  await assert.rejects(conversation.fork(1, "talk"), { kind: "already_exists" });
});

test("what another agent wrote is read as both kinds of messages", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "other", workspace: WORKSPACE });
  const events = [
    user("look"),
    toolCall("c1", "read", { path: "a" }),
    toolResult("c1", "text", { name: "read" }),
    assistant("done"),
    user("thanks"),
  ];
  await store.append({ session_id: "other", batch: { events } });
  const conversation = new Conversation({ store, sessionId: "other" });
  assert.deepEqual(await conversation.modelMessages(), [
    { role: "user", content: "look" },
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } }],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "read",
          output: { type: "text", value: "text" },
        },
      ],
    },
    { role: "assistant", content: "done" },
    { role: "user", content: "thanks" },
  ]);
  const shown = (await conversation.uiMessages()).map(({ role, parts }) => ({ role, parts }));
  assert.deepEqual(shown, [
    { role: "user", parts: [{ type: "text", text: "look" }] },
    {
      role: "assistant",
      parts: [
        {
          type: "dynamic-tool",
          toolName: "read",
          toolCallId: "c1",
          state: "output-available",
          input: { path: "a" },
          output: "text",
        },
        { type: "text", text: "done" },
      ],
    },
    { role: "user", parts: [{ type: "text", text: "thanks" }] },
  ]);
});

test("bad messages are refused, and nothing is lost", async (context) => {
  const store = await inMemory(context);
  const conversation = new Conversation({ store, sessionId: "talk" });
  await conversation.append(MODEL);
  const bad = [{ role: "user", content: [{ type: "text", text: Number.NaN }] }];
  const trap = [{ role: "user", content: [{ type: "text", text: "", ai_sdk_bytes: "" }] }];
  for (const messages of [bad, trap]) {
    await assert.rejects(conversation.append(messages as never), { kind: "invalid_args" });
    await assert.rejects(conversation.save(messages as never), { kind: "invalid_args" });
  }
  assert.deepEqual(await conversation.modelMessages(), MODEL);
});
