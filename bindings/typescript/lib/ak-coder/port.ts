/** ak-coder's port for sessions: the interface that its storage backends implement. */

/** A call of a tool, in the form of OpenAI's API. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A message of ak-coder. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  images?: string[];
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
}

/** What a call of a model consumed. */
export interface LLMCallRecord {
  timestamp: string;
  sessionId: string;
  model: string;
  prompt: ChatMessage[];
  response: string;
  inputTokens: number;
  outputTokens: number;
  cost: number;
  latencyMs: number;
}

/** A session in a list. */
export interface ListedSession {
  sessionId: string;
  timestamp: number;
}

/** ak-coder's port for sessions. */
export interface SessionStore {
  saveSession(sessionId: string, messages: ChatMessage[]): Promise<void>;
  loadSession(sessionId: string): Promise<ChatMessage[]>;
  listSessions(): Promise<ListedSession[]>;
  forkSession(
    sessionId: string,
    turnIndex: number,
    newSessionId: string,
  ): Promise<ChatMessage[]>;
  truncateSession(sessionId: string, count: number): Promise<void>;
  recordCall(record: LLMCallRecord): Promise<void>;
  getCallRecords(): Promise<LLMCallRecord[]>;
}
