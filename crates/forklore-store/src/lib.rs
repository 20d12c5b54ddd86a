//! The interface that every store of forklore implements.
//!
//! A store persists sessions and their events. It checks the expectations of each call inside its
//! own transaction, and never interprets a payload. The engine implements everything else with the
//! methods of [`Store`]. The crate `forklore-conformance` tests the contract.

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
