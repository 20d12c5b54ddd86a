//! Imports the session files of agents into a store, and continues where an earlier import stopped.
//!
//! Use this crate to import sessions of other agents into a store of your choice. The crate
//! `forklore` offers the same import as a method. The formats are in `forklore-formats` and
//! `forklore-opencode`. You register them with the engine, and the importer uses the engine's
//! formats.
//!
//! - [`Importer`] imports files and folders with the formats of an engine and with
//!   [`ImportOptions`].
//! - [`ImportReport`] lists the [`ImportedFile`]s, the [`ImportedSession`]s and the [`Problem`]s.
//! - [`Survey`] counts the files that an import would find, without importing them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::Engine;
//! use forklore_formats::AGENT_FORMATS;
//! use forklore_import::{ImportOptions, Importer};
//! use forklore_store::memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let line = concat!(
//!     r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","#,
//!     r#""message":{"role":"user","content":"plan A or plan B?"}}"#,
//! );
//! std::fs::write(folder.path().join("8f14e45f.jsonl"), format!("{line}\n"))?;
//!
//! let engine = Engine::new(Arc::new(MemoryStore::default())).with_agent_formats(AGENT_FORMATS);
//! let options = ImportOptions::in_workspace(Workspace::new("/work/demo"));
//! let paths = [folder.path().to_owned()];
//! let report = Importer::new(&engine).import(&paths, &options, &mut |_| {})?;
//!
//! let [imported] = report.sessions.as_slice() else { return Err("one session".into()) };
//! assert_eq!((imported.dialect.as_str(), imported.events), ("claude", 1));
//! assert_eq!(engine.inspect(&imported.session_id)?.messages.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! An import passes each file through one pipeline. `discovery` finds the file, and `source_state`
//! compares it with the store. `reading` splits the file into records, and `records` adds each
//! record to the session that `route` chooses. `output` writes a few megabytes at a time, each time
//! as one step; `write_behind` writes the steps of many small files together. A file is read once,
//! in constant memory. Each step is atomic and records how far the file was read. The next import
//! continues at that position, whether the last import was stopped or the agent has appended to the
//! file since.
//!
//! Some agents pass their records on to a program instead of (or as well as) writing a file.
//! [`Importer::push`] stores such lines as those of a file that exists only in the store.
//!
//! The crate never changes an agent's file. Writing such files is an operation of the engine
//! ([`Engine::export_to`](forklore_engine::Engine::export_to)). `docs/semantics.md` (Sources)
//! specifies what an import does.

mod agent_file;
mod base_files;
mod batch;
mod blocks;
mod branch_start;
mod candidate;
mod comparison;
mod compressed;
mod contained;
mod continued_from;
mod copied_prefix;
mod copy_links;
mod copy_progress;
mod described;
mod discovery;
mod document;
mod earlier_revision;
mod earlier_steps;
mod event_location;
mod file_metadata;
mod file_session;
mod file_sessions;
mod first_lines;
mod header_state;
mod import_object;
mod importer;
mod inherited_record;
mod input;
mod keyed_folders;
mod lines;
mod lookup;
mod name_conflicts;
mod named_paths;
mod new_session;
mod objects;
mod opened;
mod options;
mod original_events;
mod outcome;
mod output;
mod position;
mod problems;
mod progress;
mod push;
mod pushed_file;
mod pushed_lines;
mod pushed_state;
mod reading;
mod record_keys;
mod record_patch;
mod records;
mod renewal;
mod report;
mod report_unchanged;
mod resume_state;
mod revision;
mod route;
mod route_state;
mod run;
mod session_names;
mod session_start;
mod several;
mod sidecar;
mod sidecar_store;
mod source_state;
mod start_reading;
mod subagent_parent;
mod survey;
mod unfinished_line;
mod walk;
mod write_behind;
mod writer;

pub use forklore_engine::{Error, Result};
pub use importer::Importer;
pub use options::{AwaitedSession, ImportOptions, WrittenFrom};
pub use progress::{Overall, Progressed};
pub use push::{Note, NoteOn, PushTo};
pub use pushed_file::{PushedFile, PushedFork};
pub use pushed_lines::Pushed;
pub use report::{
    ImportReport, ImportedFile, ImportedSession, Problem, ProblemKind, SidecarTotals, StoredSidecar,
};
pub use survey::Survey;
