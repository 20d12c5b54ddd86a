//! The default store of forklore: one SQLite file that several processes share.
//!
//! If people should read the sessions without forklore, use `forklore-files` instead, which writes
//! JSON lines. The crate `forklore` opens both kinds of store by their address. Only programs that
//! build an engine themselves need this crate.
//!
//! [`SqliteStore`] implements [`Store`](forklore_store::Store). [`Options`] say how to open it;
//! [`Checkpoints`] are a part of them.
//!
//! ```
//! use forklore_sqlite::{Options, SqliteStore};
//! use forklore_store::Store;
//! # use forklore_core::workspace::Workspace;
//! # use forklore_core::{Label, SessionKind};
//! use forklore_store::port::{Filter, NewSession};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("sessions.db");
//! let store = SqliteStore::open(&path, Options::default())?;
//! let main = store.create(NewSession {
//!     id: "plan".parse()?,
//!     title: Some("Which parser?".to_owned()),
//! #   kind: SessionKind::Root, label: Label::main(), workspace: Workspace::new("/work/demo"),
//! #   principal: None, permissions: None, metadata: None, config: None, dialect: None,
//! #   source: None, copy_of: None, from: None, events: Vec::new(), usage: Default::default(),
//!     created: store.now(),
//!     // ... and the fields that a plain root does not need.
//! })?;
//!
//! // Another handle, here or in another process, sees what was committed.
//! let reader = SqliteStore::open(&path, Options { read_only: true, ..Options::default() })?;
//! assert_eq!(reader.sessions(&Filter::default(), None, 10)?.all()?, [main]);
//! # Ok(())
//! # }
//! ```
//!
//! # How it stores
//!
//! The events that a session wrote itself form one segment. The events that it inherits are stored
//! as a list of spans (ranges) of its ancestors' segments. This list is fixed at the fork, so a
//! fork copies no events. Each store operation runs in a transaction. Writers of all processes take
//! turns through a lock file (the gate). Readers never wait for a writer.
//!
//! The store refuses a file on a network file system. Its tables are not a stable interface: read
//! the sessions through [`Store`](forklore_store::Store).

mod ancestry;
mod append;
mod backup;
mod change;
mod chunk;
mod connect;
mod copy;
mod crc;
mod create;
mod detach;
mod fault;
mod feed;
#[doc(hidden)]
pub mod fuzz;
mod health;
mod history;
mod integer;
mod list;
mod maintenance;
mod migrate;
mod open_files;
mod operation;
mod origin;
mod pack;
mod path_safety;
mod port;
mod private_segment;
mod read;
mod read_cache;
mod redact;
mod remove;
mod row;
mod row_key;
mod segment;
mod session;
mod sources;
mod steps;
mod store;
mod sync;
mod tail;
mod transaction;
mod trim;
mod verify;
mod write_tx;

pub use health::sqlite_version;
pub use store::{Checkpoints, Options, SqliteStore};
