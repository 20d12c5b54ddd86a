//! The blocking API, for programs without an async executor: each call returns when its work is
//! done.
//!
//! [`open`] returns an [`Engine`], which is `Send`, `Sync` and cheap to clone. Several threads may
//! call its methods at once. Other processes may open the same store, unless it is in memory.
//!
//! ```
//! use forklore::blocking;
//! use forklore::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = blocking::open("memory:")?;
//! let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?;
//! engine.append(&main.id, &NewEvent::user("plan A or plan B?")?.into())?;
//! let fork = engine.fork(&Fork::of(main.id.clone()))?;
//! assert_eq!(engine.diff(&main.id, &fork.child_session_id)?.common, 1);
//! # Ok(())
//! # }
//! ```
//!
//! In an async program use [`forklore::open`](crate::open) instead: a blocking call would block the
//! executor's thread during disk I/O.

pub use forklore_engine::Engine;

pub use crate::backup::{back_up, restore_backup};
pub use crate::open::{open, open_existing, open_url};
