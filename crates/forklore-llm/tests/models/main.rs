//! Models over HTTP: the bytes that go out, the answers that come back, and what goes wrong. A real
//! small model answers in the OpenAI form and in Anthropic's; Gemini's and Anthropic's own endpoints,
//! which cannot run here, are played by doubles that answer as their documentation says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests end so")]

mod asking;
mod bodies;
mod doubles;
mod endless;
mod endpoint;
mod images;
mod keys;
mod prefixes;
mod real;
mod trouble;
