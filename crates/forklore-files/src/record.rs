//! The lines of a session's file.
//!
//! The first line contains the fields of the session that never change. Steps follow it. A step is
//! a number of event lines and then one commit line, which contains the state of the session after
//! these events. A step does not count if its commit line is missing or does not match the event
//! lines.

mod commit;
mod event;
mod hex;
mod session;

pub(crate) use commit::{Commit, State};
pub(crate) use event::{EventLine, Writer, write_event};
pub(crate) use hex::{hex, unhex};
pub(crate) use session::{Ancestry, PrefixLine, SessionLine, Span};

/// The format version of the lines in a store's files that this program writes.
pub(crate) const VERSION: u32 = 1;
