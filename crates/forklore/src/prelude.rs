//! The types that most programs need: `use forklore::prelude::*`.
//!
//! The prelude has the types of both the async and the blocking API. It has no function that opens
//! a store, because a program must name the API that it uses: [`forklore::open`](crate::open) or
//! [`forklore::blocking::open`](crate::blocking::open).

#[cfg(feature = "async")]
pub use crate::Forklore;
pub use forklore_core::workspace::Workspace;
pub use forklore_core::{
    Content, Data, EventType, Header, Label, Part, Role, Selector, SessionId, SessionKind,
};
pub use forklore_engine::{
    Attach, Batch, Bring, Brought, Create, Delete, DeleteMode, Engine, Fork, Forked, ListRequest,
    NewEvent, Record, Scope, Summarize, TreeRequest, Undelete, Undo, Undone,
};
pub use forklore_import::ImportOptions;
