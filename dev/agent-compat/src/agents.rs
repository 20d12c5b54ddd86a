//! The agents under test, one per file.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;

use crate::agent::Agent;

/// All supported agents.
pub(crate) static ALL: &[Agent] =
    &[pi::AGENT, claude::AGENT, codex::AGENT, gemini::AGENT, opencode::AGENT];
