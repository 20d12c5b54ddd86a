//! Imports and restores session files of other agents (docs/semantics.md, Sources).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod akcoder;
mod amplifier;
mod codex;
mod copies;
mod damage;
mod delegates;
mod documents;
mod expected;
mod exports;
mod files;
mod gemini;
mod growth;
mod lookalikes;
mod many;
mod matrix;
mod opencode;
mod parallel;
mod pixir;
mod restored;
mod revisions;
mod routes;
mod said;
mod scene;
mod sidecars;
mod source_state;
mod spending;
mod trees;
mod whole;
