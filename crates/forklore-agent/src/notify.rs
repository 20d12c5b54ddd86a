//! Notifications about what a session does (docs/semantics.md, Lifecycle notifications).
//!
//! A notification about stored data is announced after the data was stored. Only streamed pieces of
//! an answer and the progress of tools are [ephemeral](Notification::is_ephemeral): they are not
//! stored. Each notification has the ids of its session, of that session's parent and of the
//! family.

mod bus;
mod subscription;
mod trace;

pub(crate) use bus::Bus;
pub use bus::Sink;
pub use forklore_api::event;
pub use forklore_api::event::{Identity, KernelEvent, Name, Notification};
pub use subscription::{Lagged, Received, Subscription};
pub use trace::Trace;
