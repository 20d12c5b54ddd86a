/**
 * Conversations of the Vercel AI SDK: messages in and out.
 *
 * @module
 */
export { Conversation, type ConversationOptions } from "./ai-sdk/conversation.js";
