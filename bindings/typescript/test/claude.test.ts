import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import {
  foldSessionSummary,
  getSessionInfo,
  getSessionMessages,
  InMemorySessionStore,
  listSessions,
  renameSession,
  type SessionStore,
  type SessionStoreEntry,
} from "@anthropic-ai/claude-agent-sdk";
import { Store } from "forklore";
import { ForkloreSessionStore } from "forklore/claude";

import { addon } from "../lib/native.js";
import { callsOf } from "../lib/store.js";
import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

const SESSION = "11111111-1111-4111-8111-111111111111";
const KEY = { projectKey: "-work-demo", sessionId: SESSION };
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Returns a record as Claude Code writes it. */
function record(number: number, fields: object = {}): SessionStoreEntry {
  const type = number % 2 === 1 ? "user" : "assistant";
  return {
    type,
    uuid: id(number),
    parentUuid: number > 1 ? id(number - 1) : null,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString(),
    sessionId: SESSION,
    cwd: WORKSPACE,
    message: { role: type, content: `message ${number}` },
    ...fields,
  };
}

const RECORDS = Array.from({ length: 6 }, (_, at) => record(at + 1));

async function storeOf(...args: Parameters<typeof inMemory>): Promise<ForkloreSessionStore> {
  return new ForkloreSessionStore(await inMemory(...args), { workspace: WORKSPACE });
}

test("it does what the SDK's own store does", async (context) => {
  const mine: Required<SessionStore> = await storeOf(context);
  const theirs = new InMemorySessionStore();
  const sub = { ...KEY, subpath: "subagents/agent-1" };
  const other = { projectKey: "-work-other", sessionId: SESSION };
  const marks: SessionStoreEntry[] = [
    { type: "summary", summary: "a title", leafUuid: id(6) },
    { type: "custom-title", customTitle: "\ud83d\ude00 my title", sessionId: SESSION },
    { type: "tag", tag: "work", sessionId: SESSION },
    { type: "new-thing", deep: { a: [1.5, null, "\u2028"] } },
  ];
  const steps: ((store: Required<SessionStore>) => Promise<unknown>)[] = [
    (store) => store.load(KEY),
    (store) => store.listSessions(KEY.projectKey),
    (store) => store.append(KEY, RECORDS.slice(0, 2)),
    (store) => store.append(KEY, RECORDS.slice(2)),
    (store) => store.append(KEY, marks),
    (store) => store.append(sub, [record(1, { isSidechain: true, agentId: "agent-1" })]),
    (store) => store.append(other, [record(1)]),
    (store) => store.load(KEY),
    (store) => store.load(sub),
    (store) => store.load({ ...KEY, subpath: "nothing" }),
    (store) => store.listSubkeys(KEY),
    (store) => store.delete(sub),
    (store) => store.load(sub),
    (store) => store.delete(KEY),
    (store) => store.load(KEY),
    (store) => store.load(other),
    (store) => store.delete({ ...KEY, sessionId: "nothing" }),
  ];
  for (const [at, step] of steps.entries()) {
    assert.deepEqual(await step(mine), await step(theirs), `step ${at}`);
    const named = async (store: Required<SessionStore>) =>
      (await store.listSessions(KEY.projectKey)).map(({ sessionId }) => sessionId);
    assert.deepEqual(await named(mine), await named(theirs));
    const summaries = async (store: Required<SessionStore>) =>
      (await store.listSessionSummaries(KEY.projectKey)).map(({ sessionId, data }) => [sessionId, data]);
    assert.deepEqual(await summaries(mine), await summaries(theirs), `summaries after step ${at}`);
  }
});

test("a record that is stored is not stored again", async (context) => {
  const sessions = await storeOf(context);
  await sessions.append(KEY, RECORDS.slice(0, 4));
  await sessions.append(KEY, RECORDS.slice(2, 6));
  await sessions.append(KEY, RECORDS);
  assert.deepEqual(await sessions.load(KEY), RECORDS);
  const [summary] = await sessions.listSessionSummaries(KEY.projectKey);
  assert.deepEqual(summary?.data, foldSessionSummary(undefined, KEY, RECORDS).data);
});

test("a summary is stored as the SDK for Python makes it", async (context) => {
  const sessions = await storeOf(context);
  await sessions.append(KEY, [...RECORDS, { type: "custom-title", customTitle: "mine" }]);
  const call = callsOf(
    sessions.store,
    (connection) => new addon.ClaudeSessions(connection, WORKSPACE),
  );
  const stored = await call((core) => core.summary(KEY));
  assert.deepEqual(JSON.parse(stored!), {
    is_sidechain: false,
    created_at: Date.UTC(2026, 0, 1, 0, 0, 1),
    cwd: WORKSPACE,
    first_prompt: "message 1",
    first_prompt_locked: true,
    custom_title: "mine",
  });
});

test("calls at the same time are stored in their order", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  const sessions = new ForkloreSessionStore(store);
  const many = Array.from({ length: 40 }, (_, at) => record(at + 1));
  await Promise.all(many.map((one) => sessions.append(KEY, [one])));
  assert.deepEqual(await sessions.load(KEY), many);
  const [summary] = await sessions.listSessionSummaries(KEY.projectKey);
  assert.deepEqual(summary?.data, foldSessionSummary(undefined, KEY, many).data);
});

test("a session is a conversation for every verb", async (context) => {
  const sessions = await storeOf(context);
  await sessions.append(KEY, RECORDS);
  const session_id = (await sessions.forkloreSessionId(KEY))!;
  const records = await collect(sessions.store.replay({ session_id }));
  assert.deepEqual(records.map((one) => one.role), RECORDS.map((one) => one.type));
  const { hits } = await sessions.store.search({ query: "message" });
  assert.equal(hits.length, RECORDS.length);
  assert.equal(await sessions.forkloreSessionId({ ...KEY, sessionId: id(9) }), undefined);
});

test("a fork shares the history with its original", async (context) => {
  const sessions = await storeOf(context);
  await sessions.append(KEY, RECORDS);
  const { sessionId } = await sessions.fork(KEY, { upToMessageId: id(4) });
  const fork = { ...KEY, sessionId };
  const history = (await sessions.load(fork))!.filter((one) => one.uuid !== undefined);
  assert.deepEqual(history.map((one) => one.uuid), RECORDS.slice(0, 4).map((one) => one.uuid));
  await sessions.append(fork, [record(7, { parentUuid: id(4), sessionId })]);
  const a = (await sessions.forkloreSessionId(KEY))!;
  const b = (await sessions.forkloreSessionId(fork))!;
  assert.equal((await sessions.store.diff({ a, b })).common, 4);
  assert.deepEqual(await sessions.load(KEY), RECORDS);
  await assert.rejects(sessions.fork({ ...KEY, sessionId: id(9) }), { kind: "not_found" });
  await assert.rejects(sessions.fork(KEY, { upToMessageId: id(9) }), { kind: "invalid_args" });
});

test("the SDK reads and changes the sessions", async (context) => {
  const sessionStore = await storeOf(context);
  const dir = folder(context);
  const projectKey = dir.replace(/[^A-Za-z0-9]/g, "-");
  const key = { projectKey, sessionId: SESSION };
  await sessionStore.append(key, RECORDS);
  const options = { dir, sessionStore };
  const messages = await getSessionMessages(SESSION, options);
  assert.deepEqual(messages.map((one) => one.uuid), RECORDS.map((one) => one.uuid));
  await renameSession(SESSION, "renamed", options);
  assert.equal((await getSessionInfo(SESSION, options))?.customTitle, "renamed");
  const { sessionId } = await sessionStore.fork(key, { title: "another" });
  const listed = await listSessions(options);
  const titles = listed.map((one) => [one.sessionId, one.customTitle]);
  assert.deepEqual(new Map(titles as [string, string][]), new Map([
    [SESSION, "renamed"],
    [sessionId, "another"],
  ]));
});

test("bad records are refused, and nothing is lost", async (context) => {
  const sessions = await storeOf(context);
  await sessions.append(KEY, RECORDS.slice(0, 2));
  const bad: unknown[] = [null, 5, [], { type: "user", value: Number.NaN }, { type: "x", f: () => 1 }];
  for (const one of bad) {
    const entries = [record(3), one as SessionStoreEntry];
    await assert.rejects(sessions.append(KEY, entries), { kind: "invalid_args" });
  }
  await assert.rejects(sessions.load({ projectKey: "", sessionId: "" }), { kind: "invalid_args" });
  assert.deepEqual(await sessions.load(KEY), RECORDS.slice(0, 2));
  await sessions.append({ ...KEY, sessionId: id(8) }, []);
  assert.equal(await sessions.load({ ...KEY, sessionId: id(8) }), null);
});
