//! Session files of real agents: how they are recognised, read and shown.
//!
//! One module per agent. Each implements [`AgentFormat`] and does no I/O: whoever imports a file
//! hands it lines. What each agent's records become is written in `docs/formats/`.

pub mod akcoder;
pub mod amplifier;
pub mod claude;
pub mod codex;
mod document;
pub mod gemini;
mod head;
mod history;
pub mod homes;
mod lenient;
mod lookalike;
pub mod opencode;
pub mod pi;
mod pieces;
pub mod pixir;
mod place;
pub mod plain;
mod roles;
mod splice;
mod time;

use forklore_core::agent_format::AgentFormat;

/// Every dialect, in the order in which they are asked for a file of unknown origin.
pub static AGENT_FORMATS: &[&dyn AgentFormat] = &[
    &pi::Pi,
    &codex::Codex,
    &claude::Claude,
    &gemini::Gemini,
    &opencode::Opencode,
    &amplifier::Amplifier,
    &akcoder::AkCoder,
    &pixir::Pixir,
    &plain::Plain,
];
