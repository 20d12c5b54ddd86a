//! Tests of the program as users run it. Each test has its own home directory and store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod absent;
mod agents_at_once;
mod agents_opencode;
mod anchors;
mod answers;
mod attach;
mod attack;
mod backup;
mod bring_files;
mod browser;
mod budgets;
mod chat;
mod completions;
mod config;
mod contract;
mod conversing;
mod costs;
mod deletes;
mod depth;
mod discover;
mod doctor;
#[cfg(feature = "server")]
mod elixir;
mod endpoint;
mod errors;
mod explore;
mod faults;
mod files;
mod forks;
mod graph;
mod help;
mod hooks;
mod hostile;
mod images;
#[cfg(feature = "server")]
mod killed;
mod logging;
mod man;
mod matrix;
mod mcp;
mod operations;
mod paging;
mod policy;
mod previews;
#[cfg(feature = "server")]
mod protocol;
mod readme;
mod recorded_turns;
mod redact;
mod repair;
mod requests;
mod resume;
mod rewind;
mod rights;
mod sandbox;
mod screens;
mod scripted;
mod search;
#[cfg(feature = "server")]
mod serve;
mod settings;
mod shapes;
mod sharing;
mod sidecars;
mod signals;
mod snapshots;
mod stopped;
mod streams;
mod terminal;
#[cfg(feature = "postgres")]
mod tier;
mod transfer;
mod trash;
mod typing;
mod ui;
mod watch;
mod worktrees;
