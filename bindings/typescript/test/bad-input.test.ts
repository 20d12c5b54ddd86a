import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import * as forklore from "forklore";
import { type ForkloreError, Store, user } from "forklore";

import { checked } from "../lib/native.js";
import { collect, folder, inMemory, WORKSPACE } from "./temporary.js";

test("a value that JSON does not have is refused, and nothing is stored", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "plan", workspace: WORKSPACE });
  const circle: unknown[] = [];
  circle.push({ again: circle });
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) {
    deep = [deep];
  }
  const values: [unknown, RegExp][] = [
    [Number.NaN, /content has no form in JSON: NaN/],
    [{ a: [1, -Infinity] }, /content\.a\[1\]/],
    [1n, /bigint/],
    [() => 1, /function/],
    [Symbol("s"), /symbol/],
    [[undefined], /undefined/],
    [new Array(2), /undefined/],
    [new Map([[1, 2]]), /no Map/],
    [new Set([1]), /no Set/],
    [/pattern/, /no RegExp/],
    [Promise.resolve(1), /no Promise/],
    [new Uint8Array(2), /no Uint8Array/],
    [circle, /contains itself/],
    [deep, /stack/],
    [{ toJSON: () => Number.NaN }, /NaN/],
  ];
  for (const [content, message] of values) {
    const events = [user("before"), user(content as string)];
    await assert.rejects(store.append({ session_id: "plan", batch: { events } }), (error) => {
      const { kind, details, message: text, nextActions } = error as ForkloreError;
      assert.ok(error instanceof forklore.InvalidArgsError);
      assert.deepEqual([kind, details["reason"]], ["invalid_args", "not_json"]);
      assert.equal(nextActions.length, 1);
      assert.match(text, message);
      return true;
    });
  }
  assert.deepEqual(await collect(store.log({ session_id: "plan" })), []);
});

test("what JSON has is accepted in every form", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "plan", workspace: WORKSPACE });
  const data = {
    when: new Date(0),
    absent: undefined,
    bare: Object.assign(Object.create(null) as object, { a: 1 }),
    twice: [[], []],
  };
  await store.append({ session_id: "plan", batch: { events: [{ type: "x.any", data }] } });
  const [line] = await collect(store.log({ session_id: "plan" }));
  const stored = { when: "1970-01-01T00:00:00.000Z", bare: { a: 1 }, twice: [[], []] };
  assert.deepEqual(line?.data, stored);
});

test("half a surrogate pair comes back as it was", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "plan", workspace: WORKSPACE });
  const texts = ["\ud800", "a\udc00b", "\udbff\u0000"];
  const events = texts.map((text) => user(text, { [text]: text }));
  await store.append({ session_id: "plan", batch: { events } });
  const lines = await collect(store.log({ session_id: "plan" }));
  assert.deepEqual(lines.map((line) => line.data), events.map((one) => one.data));
  await assert.rejects(store.show({ session_id: "\ud800" }), { kind: "invalid_args" });
  await assert.rejects(store.rename({ session_id: "plan", title: "\ud800" }), {
    kind: "invalid_args",
  });
});

test("a large value is stored, and a too large one refused", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "plan", workspace: WORKSPACE });
  const append = (length: number) => {
    const batch = { events: [user("x".repeat(length))] };
    return store.append({ session_id: "plan", batch });
  };
  await append(10_000_000);
  await assert.rejects(append(100_000_000), { kind: "invalid_args" });
  const huge = [user("x".repeat(500_000_000)), user("x".repeat(500_000_000))];
  await assert.rejects(store.append({ session_id: "plan", batch: { events: huge } }), {
    kind: "invalid_args",
  });
  const bytes = new Uint8Array(100_000_000).fill(7);
  const attached = await store.attach({ session_id: "plan" }, bytes);
  const read = await store.readAttachment({ session_id: "plan", ref: attached.ref });
  assert.equal(Buffer.compare(read, bytes), 0);
  assert.equal((await store.show({ session_id: "plan" })).session.head_seq, 1);
});

test("closing waits for the calls that run, and refuses later ones", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  const store = await Store.open(url);
  await store.new({ id: "plan", workspace: WORKSPACE });
  const before = store.log({ session_id: "plan" });
  const appends = Array.from({ length: 50 }, (_, index) =>
    store.append({ session_id: "plan", batch: { events: [user(`message ${index}`)] } }),
  );
  let open = appends.length;
  appends.forEach((append) => void append.then(() => (open -= 1)));
  const closed = store.close();
  await assert.rejects(store.list(), { kind: "invalid_args", message: "the store was closed" });
  await assert.rejects(before.next(), { kind: "invalid_args" });
  await closed;
  assert.equal(open, 0);
  await store.close();
  await using again = await Store.open(url);
  assert.equal((await collect(again.log({ session_id: "plan" }))).length, 50);
});

test("an error has the class of its kind", async (context) => {
  const store = await inMemory(context);
  await store.new({ id: "plan", workspace: WORKSPACE });
  await assert.rejects(store.show({ session_id: "other" }), (error) => {
    assert.ok(error instanceof forklore.NotFoundError && error instanceof forklore.ForkloreError);
    assert.equal(error.name, "NotFoundError");
    assert.deepEqual(error.details, { session_id: "other" });
    assert.deepEqual(error.nextActions, ["list the sessions"]);
    return true;
  });
  await assert.rejects(
    store.new({ id: "plan", workspace: WORKSPACE }),
    forklore.AlreadyExistsError,
  );
  const batch = { events: [user("late")], expect: 7 };
  await assert.rejects(store.append({ session_id: "plan", batch }), forklore.ConflictError);
  await assert.rejects(Store.open("nothing:here"), forklore.InvalidArgsError);
  await assert.rejects(Store.open(5 as unknown as string), forklore.InvalidArgsError);
  const bytes = "text" as unknown as Uint8Array;
  await assert.rejects(store.attach({ session_id: "plan" }, bytes), forklore.InvalidArgsError);
  const request = { session_id: "plan", unknown: 1 };
  await assert.rejects(store.show(request), forklore.InvalidArgsError);
});

test("an addon of another version is refused", () => {
  const addon = { version: () => "9.9.9" } as Parameters<typeof checked>[0];
  assert.throws(() => checked(addon, forklore.VERSION), {
    kind: "unsupported",
    details: { addon: "9.9.9", package: forklore.VERSION },
  });
});
