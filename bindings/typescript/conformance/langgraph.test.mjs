// The published suite for savers of LangGraph, unmodified, on a saver of forklore.
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { Store } from "forklore";
import { ForkloreSaver } from "forklore/langgraph";

validate({
  checkpointerName: "ForkloreSaver",
  createCheckpointer: async () => new ForkloreSaver(await Store.open("memory:")),
  destroyCheckpointer: (saver) => saver.store.close(),
});
