//! Code that the feeds of all stores share: positions, marks, and waiting for the next commit.

mod bell;
mod position;
mod stamp;
mod watch;

pub use bell::{Bell, wait_for};
pub use position::{At, Position};
pub use stamp::{Stamp, What, commit_page, list_page, listed};
pub use watch::Watch;
