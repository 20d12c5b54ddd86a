//! The session file formats of agents: detection, parsing, conversion to the common form, and
//! export.
//!
//! Use this crate to read or write the files of an agent without a store, or pass [`AGENT_FORMATS`]
//! to an engine. The import of files into a store is in `forklore-import`. `forklore-opencode`
//! reads opencode's database.
//!
//! - [`AGENT_FORMATS`] lists all formats. Each module, such as [`claude`], [`codex`] or [`pi`],
//!   implements [`AgentFormat`] for one agent.
//! - [`AgentFormats`](forklore_core::agent_format::AgentFormats) finds the format of a file.
//! - [`homes`] finds the directories in which agents store their sessions.
//!
//! ```
//! use std::path::Path;
//!
//! use forklore_core::agent_format::{AgentFormats, Line};
//! use forklore_core::{Data, Message, Role};
//! use forklore_formats::AGENT_FORMATS;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = Path::new("8f14e45f.jsonl");
//! let line = concat!(
//!     r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","version":"2.0.0","#,
//!     r#""cwd":"/work/demo","message":{"role":"user","content":"plan A or plan B?"}}"#,
//! );
//! let format = AgentFormats(AGENT_FORMATS).detect(path, line.as_bytes()).ok_or("no format")?;
//! assert_eq!(format.name(), "claude");
//!
//! let Line::Record(record) = format.reader(path, None).read(line) else {
//!     return Err("no record".into());
//! };
//! assert_eq!((record.kind.as_str(), record.effect.starts_turn), ("user_message", true));
//!
//! let message = format.view(&record.kind, &Data::parse(line)?);
//! assert_eq!(message, Some(Message::text(Role::User, "plan A or plan B?")));
//! # Ok(())
//! # }
//! ```
//!
//! The formats do no I/O: the caller passes the lines. A format never changes a record. The store
//! contains each record byte for byte, and the format converts the record to a message when a
//! caller reads it. `docs/formats/` lists the events that the records of each agent become.

pub mod akcoder;
pub mod amplifier;
mod anthropic;
mod author;
mod call_cursor;
pub mod claude;
pub mod codex;
mod document;
pub mod droid;
pub mod gemini;
mod google;
mod head;
mod history;
pub mod homes;
mod lenient;
pub mod opencode;
mod paths;
pub mod pi;
mod pieces;
pub mod pixir;
pub mod plain;
pub mod qwen;
mod roles;
mod splice;
mod time;

use forklore_core::agent_format::AgentFormat;

/// All supported formats of agents' session files, in the order in which detection tries them. The
/// first format that recognizes a file is used.
pub static AGENT_FORMATS: &[&dyn AgentFormat] = &[
    &pi::Pi,
    &codex::Codex,
    &claude::Claude,
    &qwen::Qwen,
    &droid::Droid,
    &gemini::Gemini,
    &opencode::Opencode,
    &amplifier::Amplifier,
    &akcoder::AkCoder,
    &pixir::Pixir,
    &plain::Plain,
];
