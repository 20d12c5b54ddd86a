//! Models over HTTP: request bytes, responses and errors. A real small model responds in the OpenAI
//! format and in Anthropic's. Test doubles replace the APIs of Gemini and Anthropic, which cannot
//! run here, and respond as their documentation specifies.

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
