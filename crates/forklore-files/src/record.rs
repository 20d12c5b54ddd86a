//! What the lines of a session's file say.
//!
//! The first line holds what never changes about the session. Behind it stand the steps: event
//! lines, then one commit line with the state of the session behind them. A step whose commit line
//! is not there, or does not fit it, never happened.

mod commit;
mod event;
mod hex;
mod session;

pub(crate) use commit::{Commit, State};
pub(crate) use event::{EventLine, Writer, write_event};
pub(crate) use hex::{hex, unhex};
pub(crate) use session::{Ancestry, PrefixLine, SessionLine, Span};

/// The version of the lines that this program writes.
pub(crate) const VERSION: u32 = 1;
