//! What the feeds of stores have in common: positions as marks, and the wait for the next commit.

mod bell;
mod position;
mod stamp;
mod watch;

pub use bell::{Bell, wait_for};
pub use position::{At, Position};
pub use stamp::{Stamp, What, commit_page, list_page, listed};
pub use watch::Watch;
