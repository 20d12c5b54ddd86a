//! LangGraph checkpoints as sessions that fork.
//!
//! A [`Saver`] stores the checkpoints of LangGraph in the sessions of an engine. It is the core of the
//! savers for Python and TypeScript: those convert values of their language to JSON and back, and this
//! crate decides what is stored where. Requests and answers are JSON.
//!
//! - A thread is a session, and a checkpoint is an event of it. A checkpoint whose parent is not the
//!   newest one begins a fork of the session at that parent. A copy of a thread is a fork.
//! - A list channel is stored as what each checkpoint adds to it. Its elements are events of their own:
//!   messages are events of the conversation, which every verb of forklore understands; other elements
//!   and values are evidence. Each content is stored once in a history, named by its [`Key`].
//! - A checkpoint event has the rest, relative to its parent. The content of messages is never in it,
//!   so that a redaction of a message leaves the checkpoints as they are.
//!
//! The types of the events begin with `x.langgraph.`. `docs/python-langgraph.md` describes them.

mod apply;
mod checkpoint;
mod copy;
mod delete;
mod elements;
mod history;
mod key;
mod list;
mod open;
mod put;
mod put_writes;
mod read;
mod record;
mod remove;
mod request;
mod saver;
mod sequence;
mod staging;
mod thread;

pub use forklore_engine::{Error, Result};
pub use key::{Key, NotAKey};
pub use saver::Saver;
