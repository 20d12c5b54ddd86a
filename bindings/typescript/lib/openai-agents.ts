/**
 * Sessions for the OpenAI Agents SDK, whose branches are sessions of forklore.
 *
 * @module
 */
export { ForkloreSession, type ForkloreSessionOptions } from "./openai-agents/session.js";
