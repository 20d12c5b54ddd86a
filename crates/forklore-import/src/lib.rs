//! Imports the session files of agents into a store, and continues where an earlier import stopped.
//!
//! Use it to get sessions of other agents into a store of your own choice. The crate `forklore` has
//! the same import as a method. The formats themselves are in `forklore-formats` and
//! `forklore-opencode`; the engine passes them to the importer.
//!
//! - [`Importer`] imports files and folders with the formats of an engine; [`ImportOptions`] say
//!   how.
//! - [`ImportReport`] has the [`ImportedFile`]s with their [`ImportedSession`]s, and each
//!   [`Problem`].
//! - [`Survey`] says what there is to import, without importing it.
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
//! An import passes each file through one pipeline: `discovery` finds the files, `source_state`
//! compares a file with what the store has of it, `reading` splits it into records, `records` takes
//! each to the session that `route` names, and `output` writes a few megabytes at a time.
//! A file is read once, in constant memory. Each step is atomic and includes how far the file was
//! read. So a stopped import continues from there, and appended content is read in the same way.
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
mod discovery;
mod document;
mod earlier_revision;
mod event_location;
mod file_metadata;
mod file_session;
mod file_sessions;
mod header_state;
mod import_object;
mod importer;
mod input;
mod lines;
mod lookup;
mod name_conflicts;
mod new_session;
mod objects;
mod opened;
mod options;
mod original_events;
mod output;
mod position;
mod problems;
mod progress;
mod reading;
mod record_keys;
mod record_patch;
mod records;
mod report;
mod report_read;
mod report_unchanged;
mod resume_state;
mod revision;
mod route;
mod route_state;
mod session_names;
mod session_start;
mod several;
mod sidecar;
mod sidecar_store;
mod source_state;
mod start_reading;
mod subagent_parent;
mod survey;
mod walk;
mod writer;

pub use forklore_api::Import;
pub use forklore_engine::{Error, Result};
pub use importer::Importer;
pub use options::ImportOptions;
pub use progress::{Overall, Progressed};
pub use report::{
    ImportReport, ImportedFile, ImportedSession, Problem, ProblemKind, SidecarTotals, StoredSidecar,
};
pub use survey::Survey;
