//! The core of the session store for the Claude Agent SDK.
//!
//! The SDK passes on each record that Claude Code writes into its session files. The records are
//! imported as if they were those files, so that a session is at once a tree that can be searched,
//! compared and forked, and each record comes back as it was passed on.

mod history;
mod key;
mod sessions;

pub use key::ClaudeKey;
pub use sessions::{ClaudeSessions, Listed, NewFork, Summary, SummaryOf};
