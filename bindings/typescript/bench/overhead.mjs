// What a call costs beyond the verb: `node bench/overhead.mjs [STORE]`, after `npm run build`.
//
// The verb alone is timed inside of the addon, and the same verb from JavaScript. All numbers are those of
// the fastest of 200 rounds, in microseconds: other programs on the machine can only add to them. The store
// is opened three times, so it is one on a disk or on a server. For comparison: what the promise of one of
// Node.js's own calls costs beyond the blocking call.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { addon } from "../dist/lib/native.js";
import { Store, SyncStore } from "../dist/lib/index.js";

const ROUNDS = 200;
const CALLS = 160;
const AT_ONCE = 16;

const folder = mkdtempSync(join(tmpdir(), "forklore-bench-"));
const url = process.argv[2] ?? `sqlite:${join(folder, "sessions.db")}`;
const native = addon.openSync(url);
const sync = SyncStore.open(url);
const store = await Store.open(url);
sync.new({ id: "bench", workspace: folder });
const request = { session_id: "bench" };
const json = JSON.stringify({ show: request });

async function fastest(round) {
  let least = Infinity;
  for (let count = 0; count < ROUNDS; count += 1) {
    least = Math.min(least, await round());
  }
  return least;
}

async function timed(work) {
  const began = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - began) / 1000 / CALLS;
}

const verb = await fastest(() => native.measure(json, CALLS));
const blocking = await fastest(() =>
  timed(() => {
    for (let count = 0; count < CALLS; count += 1) {
      sync.show(request);
    }
  }),
);
const promised = await fastest(() =>
  timed(async () => {
    for (let count = 0; count < CALLS; count += 1) {
      await store.show(request);
    }
  }),
);
const parallel = await fastest(() =>
  timed(async () => {
    for (let count = 0; count < CALLS; count += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => store.show(request)));
    }
  }),
);
const blockingStat = await fastest(() =>
  timed(() => {
    for (let count = 0; count < CALLS; count += 1) {
      statSync(folder);
    }
  }),
);
const promisedStat = await fastest(() =>
  timed(async () => {
    for (let count = 0; count < CALLS; count += 1) {
      await stat(folder);
    }
  }),
);

const row = (name, time, base = verb) =>
  console.log(`${name.padEnd(34)} ${time.toFixed(1).padStart(8)} ${(time - base).toFixed(1).padStart(9)}`);
console.log(`Node.js ${process.version}, ${url.split(":")[0]}, show`);
console.log(`${"".padEnd(34)} ${"µs".padStart(8)} ${"overhead".padStart(9)}`);
row("the verb, in Rust", verb);
row("SyncStore", blocking);
row("Store, one after the other", promised);
row(`Store, ${AT_ONCE} at once`, parallel);
row("stat of node:fs/promises", promisedStat, blockingStat);

await store.close();
sync.close();
native.closeSync();
rmSync(folder, { recursive: true });
