//! The interface that every store of forklore implements, and a store in memory.
//!
//! Use this crate to write a store of your own, or for [`MemoryStore`](memory::MemoryStore) in
//! tests. To persist sessions, use the stores in `forklore-sqlite` or `forklore-files`. To create,
//! fork and read sessions, use `forklore-engine`, which implements these operations over any
//! [`Store`].
//!
//! - [`Store`] stores sessions and their events. [`Capabilities`](port::Capabilities) are the
//!   optional parts that a store supports.
//! - A [`Transaction`](port::Transaction) is a list of [`Write`](port::Write)s, of which a store
//!   executes all or none. Each write has expectations, such as the session's head. The store
//!   checks them in the same step.
//! - A [`Query`](port::Query) reads a page of one session's events; a [`Filter`](port::Filter)
//!   lists sessions; [`Changes`](port::Changes) are the sessions that were written to after a
//!   [`Mark`](port::Mark), which is a position in the store's feed.
//! - [`Attachments`](attachments::Attachments) stores attachments outside the logs. [`sources`] has
//!   the types for imported files.
//! - A [`Meter`](meter::Meter) counts what a program does with its store.
//! - [`rules`] and [`disk`] contain code that several stores share.
//!
//! ```
//! use forklore_core::workspace::Workspace;
//! use forklore_core::{Class, Data, Effect, Event, EventType, Label, SessionKind};
//! use forklore_store::memory::MemoryStore;
//! use forklore_store::port::{Append, NewSession};
//! use forklore_store::{Error, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (class, effect) = (Class::Conversation, Effect { starts_turn: true, calls: Vec::new() });
//! let store = MemoryStore::default();
//! let now = store.now();
//! let (id, label, workspace) = ("plan".parse()?, Label::main(), Workspace::new("/work/demo"));
//! let main = store.create(NewSession {
//!     id, label, workspace, kind: SessionKind::Root, created: now, from: None, events: Vec::new(),
//! #   title: None, principal: None, permissions: None, metadata: None, config: None,
//! #   dialect: None, source: None, copy_of: None, usage: Default::default(),
//!     // ... and the fields that a plain root does not need.
//! })?;
//! let (kind, data) = (EventType::USER_MESSAGE, Data::parse(r#"{"content": "plan A or B?"}"#)?);
//! let event = Event { id: "e1".parse()?, ts: now, kind, class, dialect: None, effect, data };
//! let other = Event { id: "e2".parse()?, ..event.clone() };
//! let append = |event, head| Append {
//!     events: vec![event], expect: Some(head), owner: None, usage: Default::default(), now,
//! };
//! assert_eq!(store.append(&main.id, append(event, -1))?.head_seq, 0);
//!
//! // A writer that still expects the empty log is refused.
//! let late = store.append(&main.id, append(other, -1));
//! assert!(matches!(late, Err(Error::Conflict { expected: -1, head: 0, .. })));
//! # Ok(())
//! # }
//! ```
//!
//! A store never interprets a payload. It does not trust what a caller read earlier, but checks
//! every expectation itself. The interface is synchronous and needs no async runtime. The crate
//! `forklore-conformance` tests whether a store meets the contract.

pub mod attachments;
pub mod clock;
pub mod disk;
pub mod error;
pub mod feed;
pub mod health;
pub mod lease_owner;
pub mod memory;
pub mod meter;
pub mod port;
pub mod rules;
pub mod sources;

pub use error::{Error, Result};
pub use port::Store;
