//! The lines of a session's file.
//!
//! The first line has what never changes about the session. It is followed by steps: each is a
//! number of event lines and then one commit line with the state of the session after them. A step
//! whose commit line is missing or does not match it does not count.

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
