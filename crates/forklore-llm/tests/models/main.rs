//! Tests of models over HTTP: request bodies, responses and errors. A real small model responds in
//! the formats of OpenAI and Anthropic. Test doubles replace the APIs of Gemini and Anthropic,
//! which cannot run here, and respond as the documentation of these APIs specifies.

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
