//! Imports and restores session files of other agents (docs/semantics.md, Sources).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod akcoder;
mod amplifier;
mod claude;
mod codex;
mod codex_files;
mod codex_migrated;
mod copies;
mod counted;
mod damage;
mod delegates;
mod documents;
mod droid;
mod exchanged;
mod expected;
mod exports;
mod files;
mod gemini;
mod growth;
mod many;
mod matrix;
mod opencode;
mod opencode_awaited;
mod opencode_journal;
mod parallel;
mod pi_lanes;
mod pixir;
mod previews;
mod pushed;
mod qwen;
mod races;
mod restored;
mod revisions;
mod routes;
mod scene;
mod sidecars;
mod source_state;
mod spending;
mod thousands;
mod titles;
mod transferred;
mod trees;
mod undo;
mod whole;
mod written;
