/** Stores in folders of their own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { Store } from "forklore";

/** The workspace of the tests' sessions. */
export const WORKSPACE = "/work/demo";

/** Returns a folder that exists as long as a test. */
export function folder(test: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "forklore-"));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Opens a store in memory for the duration of a test. */
export async function inMemory(test: TestContext): Promise<Store> {
  const store = await Store.open("memory:");
  test.after(() => store.close());
  return store;
}

/** Returns all items of an answer. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}
