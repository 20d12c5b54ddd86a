import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Store } from "forklore";

import { folder } from "./temporary.js";

const EXAMPLES = fileURLToPath(new URL("../examples", import.meta.url));
const PRINTED: Record<string, RegExp> = {
  "ai-sdk.js": /common: 1, alone: 3 and 1\nuser: text\nassistant: dynamic-tool, text\n/,
  "ak-coder.js": /common: 2\nsession-1: \[ 'Now fix the bug' \]\nfork: \[ 'Rather refactor' \]/,
  "claude.js": /common: 2\n.*\nthe SDK resumes the fork with 3 messages\n/,
  "langgraph.js": /sessions: 2, common: 2\nalone: 2 and 2\nthe copy went on with 6 messages\n/,
  "openai-agents.js": /common: 2, alone: 2 and 2\nI read 5 items\.\n/,
  "store.js": /common: 1\n[^]*user: Oslo or Rome\?\nassistant: Oslo has the fjord\./,
};

for (const name of readdirSync(EXAMPLES).filter((file) => file.endsWith(".js"))) {
  test(`the example ${name} runs`, async (context) => {
    const url = `sqlite:${join(folder(context), "sessions.db")}`;
    const ran = spawnSync(process.execPath, [join(EXAMPLES, name), url], { encoding: "utf8" });
    assert.equal(ran.stderr, "");
    assert.match(ran.stdout, PRINTED[name] ?? /^nothing is expected of it$/);
    assert.equal(ran.status, 0);
    await using store = await Store.open(url);
    assert.deepEqual((await store.verify()).problems, []);
  });
}
