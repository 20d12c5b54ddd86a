//! Sessions of AI agents that fork, at the same cost whatever the history.
//!
//! [`open`] a store and use the verbs of [`Engine`] on it.
//!
//! ```
//! use forklore::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = forklore::open("memory:")?;
//! let session = engine.create(&Create::in_workspace(Workspace::new("/tmp/demo")))?;
//! engine.append(&session.id, &vec![NewEvent::user("plan A or plan B?")?].into())?;
//! let fork = engine.fork(&Fork::of(session.id.clone()))?;
//! engine.append(&fork.child_session_id, &vec![NewEvent::assistant("plan B")?].into())?;
//! assert_eq!(engine.diff(&session.id, &fork.child_session_id)?.common, 1);
//! # Ok(())
//! # }
//! ```

mod open;

pub use forklore_engine as engine;
pub use forklore_formats as formats;
pub use forklore_model as model;
pub use forklore_store as store;

pub use forklore_engine::{Engine, Error};
pub use open::{OpenError, StoreUrl, open, open_url};

/// What most programs need.
pub mod prelude {
    pub use crate::open;
    pub use forklore_engine::{AppendRequest, Create, Delete, DeleteMode, Engine, Fork, NewEvent};
    pub use forklore_model::workspace::Workspace;
    pub use forklore_model::{Data, EventType, Label, Selector, SessionId, SessionKind};
}
