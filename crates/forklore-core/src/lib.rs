//! The data model of forklore: sessions, events, cuts and lineage.
//!
//! Pure data and pure functions: no I/O, no clock, no async. Everything here can be tested by
//! calling it, and every store, command and agent format uses these types. `docs/semantics.md`
//! defines the meaning of each; comments name its section.

pub mod agent_format;
pub mod attachment;
pub mod call;
pub mod call_usage;
pub mod counts;
pub mod cut;
pub mod data;
pub mod diff;
pub mod envelope;
pub mod error;
pub mod event;
pub mod export;
pub mod header;
pub mod id;
pub mod inline;
pub mod kind;
pub mod limits;
pub mod lineage;
pub mod message;
mod message_read;
pub mod payload;
pub mod report;
#[cfg(feature = "schema")]
mod schema;
pub mod session_container;
pub mod summary;
pub mod tree;
pub mod usage;
pub mod workspace;

pub use attachment::AttachmentId;
pub use call::{CallStep, Effect, OpenCall, OpenCalls};
pub use call_usage::CallUsage;
pub use counts::Counts;
pub use cut::{Cut, CutError, Selector};
pub use data::Data;
pub use error::ErrorKind;
pub use event::{Event, Origin};
pub use header::{Header, Lease, Strategy, Tombstone, ToolCallPolicy};
pub use id::{EventId, Label, SessionId};
pub use inline::{Inline, inline};
pub use kind::{Class, EventType, SessionKind};
pub use message::{Content, Message, Part, Role};
pub use usage::Usage;
