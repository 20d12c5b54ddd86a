import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Store, type types, user } from "forklore";

import { folder, WORKSPACE } from "./temporary.js";

const LAUNCHER = fileURLToPath(new URL("../../bin/forklore.js", import.meta.url));

function run(words: string[], environment: Record<string, string> = {}) {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [LAUNCHER, ...words], { env, encoding: "utf8" });
}

test("the program shows the sessions of the package", async (context) => {
  const url = `sqlite:${join(folder(context), "sessions.db")}`;
  await using store = await Store.open(url);
  await store.new({ id: "plan", workspace: WORKSPACE });
  await store.append({ session_id: "plan", batch: { events: [user("which plan?")] } });
  const shown = run(["--store", url, "show", "plan", "--json"]);
  assert.equal(shown.stderr, "");
  const printed = JSON.parse(shown.stdout) as { session: types.Session };
  const { session } = await store.show({ session_id: "plan" });
  assert.equal(printed.session.updated, session.updated);
  assert.equal(shown.status, 0);
});

test("the launcher ends with the program's code", () => {
  const missing = run(["--store", "memory:", "show", "other"]);
  assert.notEqual(missing.status, 0);
  assert.match(missing.stderr, /other/);
  for (const program of [join(LAUNCHER, "nothing"), `${LAUNCHER}.nothing`]) {
    const absent = run(["tree"], { FORKLORE_PROGRAM: program });
    assert.equal(absent.status, 1);
    assert.match(absent.stderr, /^error: the program forklore cannot be started/);
  }
});
