//! Session files of agents: recognising, reading, showing and writing them.
//!
//! Each module implements [`AgentFormat`] for one agent and does no I/O: the importer passes it lines.
//! `docs/formats/` lists what the records of each agent become.

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
mod paths;
pub mod pi;
mod pieces;
pub mod pixir;
pub mod plain;
mod roles;
mod splice;
mod time;

use forklore_core::agent_format::AgentFormat;

/// All formats, in the order in which they are tried on a file.
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
