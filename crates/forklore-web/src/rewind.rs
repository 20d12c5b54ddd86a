//! Conversation and files as one unit (docs/semantics.md, Snapshots): which files a turn left behind,
//! how they changed, and the way back to them.

mod badges;
mod choice;
mod diff;
mod done;
mod means;
mod outcome;
mod plan;
mod routes;
mod state;

pub(crate) use self::badges::{badge, complete};
pub(crate) use self::means::means;
pub use self::means::{Files, Rights};
pub(crate) use self::outcome::notice;
pub(crate) use self::routes::routes;
