/** Runs a graph of LangGraph again from an earlier checkpoint, and compares the two branches. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Store } from "forklore";
import { ForkloreSaver } from "forklore/langgraph";

await using store = await Store.open(process.argv[2] ?? "memory:");
const checkpointer = new ForkloreSaver(store);
const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => ({
    messages: [new AIMessage(`I read ${messages.length} messages.`)],
  }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ checkpointer });

const ask = (text: string) => ({ messages: [new HumanMessage(text)] });
const thread = { configurable: { thread_id: "trip" } };
await graph.invoke(ask("Plan a trip to Oslo"), thread);
await graph.invoke(ask("Now by train"), thread);

let earlier = thread as { configurable?: Record<string, unknown> };
for await (const state of graph.getStateHistory(thread)) {
  const { messages = [] } = state.values as { messages?: unknown[] };
  if (messages.length === 2 && state.next.length === 0) {
    earlier = state.config;
  }
}
const branch = await graph.invoke(ask("Now by boat"), earlier);
console.log(branch.messages.at(-1)?.content);

const { sessions } = await store.list();
const [a, b] = sessions.map((session) => session.id);
const { common, only_a, only_b } = await store.diff({ a: a!, b: b! });
console.log(`sessions: ${sessions.length}, common: ${common}`);
console.log(`alone: ${only_a.length} and ${only_b.length}`);

await checkpointer.copyThread("trip", "copy");
const copy = await graph.invoke(ask("And back?"), { configurable: { thread_id: "copy" } });
console.log(`the copy went on with ${copy.messages.length} messages`);
