//! Imports the session files of agents into a store (docs/semantics.md, Sources).
//!
//! An import passes each file through one pipeline: `discovery` finds the files, `source_state`
//! compares a file with what the store has of it, `reading` splits it into records, `records` takes
//! each to the session that `route` names, and `output` writes a few megabytes at a time.
//! A file is read once, in constant memory. Each step is atomic and includes how far the file was
//! read. So a stopped import continues from there, and appended content is read in the same way.
//!
//! ```
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::Engine;
//! use forklore_import::{ImportOptions, Importer};
//! use forklore_store::memory::MemoryStore;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(std::sync::Arc::new(MemoryStore::default()));
//! let options = ImportOptions::in_workspace(Workspace::new("/work/demo"));
//! let report = Importer::new(&engine).import(&[], &options, &mut |_| {})?;
//! assert_eq!(report.files, 0);
//! # Ok(())
//! # }
//! ```

mod agent_file;
mod base_files;
mod batch;
mod begin;
mod beginning;
mod blocks;
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
mod exchange;
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
mod read_file;
mod reading;
mod record_keys;
mod records;
mod report;
mod resume_state;
mod revision;
mod route;
mod route_state;
mod seen;
mod session_names;
mod several;
mod sidecar;
mod sidecar_store;
mod source_state;
mod spot;
mod start;
mod subagent_parent;
mod survey;
mod unchanged;
mod walk;
mod writer;

pub use forklore_engine::{Error, Result};
pub use importer::Importer;
pub use options::ImportOptions;
pub use progress::{Overall, Progressed};
pub use report::{
    ImportReport, ImportedFile, ImportedSession, Problem, ProblemKind, SidecarTotals, StoredSidecar,
};
pub use survey::Survey;
