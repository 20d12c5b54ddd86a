/**
 * ak-coder's port for sessions: forks that share the history with their original.
 *
 * @module
 */
export type {
  ChatMessage,
  ListedSession,
  LLMCallRecord,
  SessionStore,
  ToolCall,
} from "./ak-coder/port.js";
export { AkCoderSessions } from "./ak-coder/sessions.js";
