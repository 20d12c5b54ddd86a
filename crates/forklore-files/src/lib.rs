//! A store that `cat`, `grep` and `jq` can read: one file of JSON lines per session, in one folder
//! per workspace.
//!
//! Use this store if people or scripts should read the sessions without forklore. Otherwise use
//! `forklore-sqlite`, the default. The crate `forklore` opens both kinds of store by their address.
//! Only programs that build an engine themselves need this crate.
//!
//! [`FilesStore`] implements [`Store`](forklore_store::Store), and [`Options`] say how to open it.
//! All access to files goes through the traits in [`fs`]. Tests implement these traits to inject
//! faults.
//!
//! ```
//! use forklore_files::{FilesStore, Options};
//! use forklore_store::Store;
//! # use forklore_core::workspace::Workspace;
//! # use forklore_core::{Class, Data, Effect, Event, EventType, Label, SessionKind};
//! # use forklore_store::port::NewSession;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("sessions");
//! let store = FilesStore::open(&path, Options::default())?;
//! # let event = Event {
//! #   id: "e1".parse()?, ts: store.now(), kind: EventType::USER_MESSAGE,
//! #   class: Class::Conversation, dialect: None,
//! #   effect: Effect { starts_turn: true, calls: Vec::new() },
//! #   data: Data::parse(r#"{"content":"plan A or plan B?"}"#)?,
//! # };
//! store.create(NewSession {
//!     id: "plan".parse()?,
//!     workspace: Workspace::new("/work/demo"),
//!     events: vec![event],
//! #   title: None, kind: SessionKind::Root, label: Label::main(), principal: None,
//! #   permissions: None, metadata: None, config: None, dialect: None, source: None, copy_of: None,
//! #   from: None, usage: Default::default(),
//!     created: store.now(),
//!     // ... and the fields that a plain root does not need.
//! })?;
//!
//! let folder = path.join("workspaces").join(Workspace::new("/work/demo").key());
//! let text = std::fs::read_to_string(folder.join("plan.jsonl"))?;
//! assert!(text.contains(r#"{"content":"plan A or plan B?"}"#));
//! # Ok(())
//! # }
//! ```
//!
//! # How it stores
//!
//! A session's file contains the events that the session wrote itself. The events that it inherits
//! are stored as a list of spans (ranges) of its ancestors' files. This list is fixed at the fork,
//! so a fork copies no events. An append is one write and one sync. A change to several files is
//! first written to a journal as a whole.
//!
//! Other programs may read the files but must not edit them. Each line ends with a checksum, so the
//! store reports an edited line as damage. `docs/files-store.md` in the repository describes every
//! file.

mod append;
mod backup;
mod change;
mod claim;
mod commit;
mod copy;
mod create;
mod feed;
mod folder;
mod health;
mod history;
mod label;
mod layout;
mod line;
mod lines;
mod list;
mod log;
mod maintenance;
mod name;
mod needed_events;
mod operation;
mod overlay;
mod pending;
mod port;
mod read;
mod record;
mod redact;
mod remove;
mod session;
mod sources;
mod store;
mod transaction;
mod verify;

pub use forklore_store::disk::fs;
pub use store::{FilesStore, Options};
