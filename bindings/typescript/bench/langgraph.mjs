// Times a saver for LangGraph: `node bench/langgraph.mjs [MESSAGES...]`, after `npm run build`.
//
// Each turn adds 2 messages of 500 characters, as 3 checkpoints. Times are in milliseconds. `MemorySaver`
// is LangGraph's own and has no disk.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";

import { Store } from "../dist/lib/index.js";
import { ForkloreSaver } from "../dist/lib/langgraph.js";

const SIZES = process.argv.slice(2).map(Number);
const text = (number) => `${number} `.padEnd(500, "x");
const thread = { configurable: { thread_id: "t" } };

function graphOf(checkpointer) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", ({ messages }) => ({ messages: [new AIMessage(text(messages.length))] }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ checkpointer });
}

async function timed(work) {
  const began = performance.now();
  const result = await work();
  return [(performance.now() - began).toFixed(1), result];
}

/** Returns the times of the last turn, a read, a history of 50, and a turn from an early checkpoint. */
async function measure(checkpointer, messages) {
  const graph = graphOf(checkpointer);
  const turn = (number, config = thread) =>
    graph.invoke({ messages: [new HumanMessage(text(number))] }, config);
  for (let number = 0; number < messages - 2; number += 2) {
    await turn(number);
  }
  const [last] = await timed(() => turn(messages));
  const [read] = await timed(() => graph.getState(thread));
  const [history, states] = await timed(async () => {
    const found = [];
    for await (const state of graph.getStateHistory(thread, { limit: 50 })) {
      found.push(state);
    }
    return found;
  });
  const [branch] = await timed(() => turn("branch", states.at(-1).config));
  return { last, read, history, branch };
}

const show = (name, messages, times, bytes) =>
  console.log(
    `${name.padEnd(14)} ${String(messages).padStart(6)}  turn ${times.last}  read ${times.read}  ` +
      `history(50) ${times.history}  branch ${times.branch}${bytes}`,
  );

for (const messages of SIZES.length > 0 ? SIZES : [10, 1000]) {
  show("MemorySaver", messages, await measure(new MemorySaver(), messages), "");
  const folder = mkdtempSync(join(tmpdir(), "forklore-bench-"));
  const store = await Store.open(`sqlite:${join(folder, "sessions.db")}`);
  const times = await measure(new ForkloreSaver(store), messages);
  await store.close();
  const sizes = readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)));
  const bytes = sizes.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  show("ForkloreSaver", messages, times, `  disk ${(bytes / 1e6).toFixed(2)} MB`);
  rmSync(folder, { recursive: true });
}
