/** Runs an agent of the OpenAI Agents SDK in two branches of a session, without a network. */
import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  run,
  setTracingDisabled,
  Usage,
} from "@openai/agents-core";
import { Store } from "forklore";
import { ForkloreSession } from "forklore/openai-agents";

setTracingDisabled(true);

/** Answers with the number of items that it got. */
class Counter implements Model {
  getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const text = `I read ${input.length} items.`;
    const content = [{ type: "output_text" as const, text }];
    const message = { type: "message", role: "assistant", status: "completed", content } as const;
    return Promise.resolve({ usage: new Usage(), output: [{ ...message, content: [...content] }] });
  }
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("this model does not stream");
  }
}

await using store = await Store.open(process.argv[2] ?? "memory:");
const agent = new Agent({ name: "counter", model: new Counter() });
const session = new ForkloreSession({ store, sessionId: "trip" });

await run(agent, "Plan a trip to Oslo", { session });
await run(agent, "Now by train", { session });
const branch = await session.fork(2, "by-boat");
await run(agent, "Now by boat", { session: branch });

const a = (await session.forkloreSessionId())!;
const b = (await branch.forkloreSessionId())!;
const { common, only_a, only_b } = await store.diff({ a, b });
console.log(`common: ${common}, alone: ${only_a.length} and ${only_b.length}`);

const resumed = new ForkloreSession({ store, sessionId: "trip", branch: "by-boat" });
const result = await run(agent, "And back?", { session: resumed });
console.log(result.finalOutput);
