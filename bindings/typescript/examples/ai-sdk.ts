/** Saves a conversation of the AI SDK, forks it, and goes on in the fork. */
import { Store } from "forklore";
import { Conversation } from "forklore/ai-sdk";

await using store = await Store.open(process.argv[2] ?? "memory:");
const conversation = new Conversation({ store, sessionId: "trip" });

await conversation.append([{ role: "user", content: "Which weather in Oslo?" }]);
await conversation.append([
  {
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Oslo" } },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "weather",
        output: { type: "text", value: "rain" },
      },
    ],
  },
  { role: "assistant", content: "It rains." },
]);

const fork = await conversation.fork(1, "trip-again");
await fork.append([{ role: "assistant", content: "I do not know." }]);
const { common, only_a, only_b } = await store.diff({ a: "trip", b: "trip-again" });
console.log(`common: ${common}, alone: ${only_a.length} and ${only_b.length}`);

const resumed = new Conversation({ store, sessionId: "trip" });
for (const { role, parts } of await resumed.uiMessages()) {
  console.log(`${role}: ${parts.map((part) => part.type).join(", ")}`);
}
