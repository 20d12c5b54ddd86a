//! Session files of agents: detection, parsing, conversion to the common form, and export.
//!
//! Each module implements [`AgentFormat`] for one agent and does no I/O: the importer passes the
//! lines. `docs/formats/` lists the events that the records of each agent become.

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

/// All formats, in the order in which detection tries them on a file.
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
