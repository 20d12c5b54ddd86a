//! The port that every store of forklore implements, and the contract that they all keep.
//!
//! A store keeps sessions and their events, checks what each call expects inside its own
//! transaction, and never interprets a payload. Everything else is done by the engine over the
//! eight methods of [`Store`].

pub mod attachments;
pub mod disk;
pub mod error;
pub mod health;
pub mod memory;
pub mod port;
pub mod rules;
pub mod sources;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use error::{Error, Result};
pub use port::Store;
