//! Reads the session files of agents into a store (SPEC 11).
//!
//! An import passes each file through one pipeline: `candidate` finds files and orders them,
//! `source_state` compares a file with what the store knows of it, `reading` takes it apart
//! into records, `route` decides where a record goes, and `step` writes some megabytes at a
//! time. A file is read once, in constant memory. Each step is written whole or not at all,
//! together with how far the file was read: an import that was stopped goes on there, and growth
//! of the file is read like the rest of it.
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

mod base_files;
mod batch;
mod begin;
mod blocks;
mod candidate;
mod child;
mod compressed;
mod contained;
mod continued_from;
mod copied_prefix;
mod copy_links;
mod document;
mod earlier_revision;
mod file_identity;
mod file_session;
mod importer;
mod lines;
mod lookup;
mod name_conflicts;
mod objects;
mod opened;
mod position;
mod problems;
mod progress;
mod reading;
mod report;
mod resume_state;
mod revision;
mod route;
mod seen;
mod session_names;
mod sidecar;
mod sidecar_store;
mod source_state;
mod start;
mod step;
mod subagent_parent;
mod survey;
mod unchanged;
mod walk;
mod writer;

pub use forklore_engine::{Error, Result};
pub use importer::{ImportOptions, Importer};
pub use progress::{Overall, Progressed};
pub use report::{
    ImportReport, ImportedFile, ImportedSession, Problem, ProblemKind, SidecarTotals, StoredSidecar,
};
pub use survey::Survey;
