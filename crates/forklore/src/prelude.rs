//! What most programs need: `use forklore::prelude::*`.
//!
//! The requests and names of both faces. What opens a store is not among them, so that a program
//! says which face it means: [`forklore::open`](crate::open) or
//! [`forklore::blocking::open`](crate::blocking::open).

#[cfg(feature = "async")]
pub use crate::Forklore;
pub use forklore_core::workspace::Workspace;
pub use forklore_core::{
    Content, Data, EventType, Header, Label, Part, Role, Selector, SessionId, SessionKind,
};
pub use forklore_engine::{
    AppendRequest, Attach, Bring, Brought, Create, Delete, DeleteMode, Engine, Fork, Forked,
    ListRequest, NewEvent, Record, Scope, Summarize, TreeRequest,
};
pub use forklore_import::ImportOptions;
