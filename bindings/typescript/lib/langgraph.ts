/**
 * A saver for LangGraph: threads are sessions, and branches are forks.
 *
 * @module
 */
export { ForkloreSaver, type ForkloreSaverOptions } from "./langgraph/saver.js";
