//! The same verbs for programs without an executor: each call returns when it is done.
//!
//! [`open`] gives an [`Engine`], which is `Send`, `Sync` and cheap to clone. Its verbs may be
//! called from several threads at once; a store of its own process may be opened by others too.
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
//! In an async program use [`forklore::open`](crate::open) instead: a verb called directly would
//! hold up its executor's thread for as long as the disk takes.

pub use forklore_engine::Engine;

pub use crate::open::{open, open_url};
