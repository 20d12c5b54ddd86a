//! The port that every store of forklore implements.
//!
//! A store keeps sessions and their events, checks what each call expects inside its own
//! transaction, and never interprets a payload. Everything else is done by the engine over the
//! methods of [`Store`]. The crate `forklore-conformance` holds the contract as tests.

pub mod attachments;
pub mod clock;
pub mod disk;
pub mod error;
pub mod feed;
pub mod health;
pub mod memory;
pub mod port;
pub mod rules;
pub mod sources;

pub use error::{Error, Result};
pub use port::Store;
