//! The data model of forklore: sessions, events, cuts and lineage, as plain data and pure
//! functions.
//!
//! Use this crate directly to write a store, a reader for an agent's files, or a program that only
//! needs the types. To create and fork sessions, use the crate `forklore`, or `forklore-engine`
//! over a store of your own.
//!
//! - An [`Event`] is an immutable record. Its [`EventType`], [`Class`] and [`Effect`] determine its
//!   role in turns, calls and forks. Its payload is [`Data`], stored verbatim.
//! - A [`Header`] is everything that a store records about a session, except its events.
//! - A [`Selector`] is a position in a log as a caller writes it, such as `turn:2`. A [`Cut`] is a
//!   resolved position, in every unit of the log.
//! - [`Counts`] are the totals of events, turns and bytes up to an event. [`OpenCalls`] are the
//!   tool calls without a result at an event.
//! - A [`Message`] is the common view of a conversation event, whichever agent wrote it. A
//!   [`Describer`](describe::Describer) shows messages in one line each.
//! - [`AgentFormat`](agent_format::AgentFormat) and
//!   [`SessionContainer`](session_container::SessionContainer) are the interfaces that read the
//!   files of an agent.
//!
//! ```
//! use forklore_core::cut::{CutPoint, Extent};
//! use forklore_core::{Counts, Data, Event, EventType, OpenCalls, Selector, payload};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut counts, mut open, mut head_seq) = (Counts::default(), OpenCalls::default(), -1);
//! for (kind, data) in [
//!     (EventType::USER_MESSAGE, r#"{"content": "plan A or plan B?"}"#),
//!     (EventType::ASSISTANT_MESSAGE, r#"{"content": "plan B"}"#),
//!     (EventType::USER_MESSAGE, r#"{"content": "let us take B"}"#),
//! ] {
//!     let data = Data::parse(data)?;
//!     let (class, effect) = payload::check(&kind, None, &data)?;
//!     let (id, ts) = ("e".parse()?, "2026-01-01T00:00:00Z".parse()?);
//!     open.step(&effect);
//!     counts = counts.after(&Event { id, ts, kind, class, dialect: None, effect, data }, &open);
//!     head_seq += 1;
//! }
//! assert_eq!((counts.index, counts.turns), (3, 2));
//!
//! // The end of the first turn is where the second one begins.
//! let extent = Extent { head_seq, counts };
//! assert_eq!("turn:1".parse::<Selector>()?.resolve(&extent)?, CutPoint::BeforeTurn(2));
//! assert!(Selector::Turn(3).resolve(&extent).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! The crate uses no file, clock, thread or async runtime, and it stores nothing. A test can
//! therefore call every function directly. `docs/semantics.md` in the repository defines the
//! meaning of each type; the comments cite its sections.

pub mod agent_format;
pub mod attachment;
pub mod call;
pub mod call_usage;
pub mod chain;
pub mod counts;
pub mod cut;
pub mod data;
pub mod describe;
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
pub mod operation;
pub mod payload;
pub mod price;
pub mod redaction;
pub mod report;
#[cfg(feature = "schema")]
mod schema;
pub mod session_container;
pub mod summary;
pub mod tree;
pub mod typed;
pub mod units;
pub mod usage;
pub mod workspace;

pub use attachment::AttachmentId;
pub use call::{CallStep, Effect, OpenCall, OpenCalls};
pub use call_usage::CallUsage;
pub use chain::{Chain, ChainHash};
pub use counts::Counts;
pub use cut::{Cut, CutError, Selector};
pub use data::Data;
pub use error::ErrorKind;
pub use event::{Event, Origin};
pub use header::{Header, Lease, Strategy, Tombstone, ToolCallPolicy};
pub use id::{EventId, Label, SessionId, ShortId, ShortIds};
pub use inline::{Inline, inline};
pub use kind::{Class, EventType, SessionKind};
pub use message::{Content, Message, Part, Role};
pub use price::{Currency, PriceTable, Prices};
pub use redaction::Redaction;
pub use usage::{Usage, without_noise};
