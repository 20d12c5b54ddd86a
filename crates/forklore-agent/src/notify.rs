//! Notifications about what a session does (docs/semantics.md, Lifecycle notifications).
//!
//! A notification about stored data is announced after the data was stored. A notification that
//! reports only progress is [ephemeral](Notification::is_ephemeral): a streamed piece of an answer,
//! the start of a block of an answer, or the progress of a tool. Each notification has the ids of
//! its session, of the parent session and of the root session.

mod bus;
mod subscription;
mod trace;

pub(crate) use bus::Bus;
pub use bus::Sink;
pub use forklore_api::event;
pub use forklore_api::event::{Identity, KernelEvent, Name, Notification};
pub use subscription::{Lagged, Received, Subscription};
pub use trace::Trace;
