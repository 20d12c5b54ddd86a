//! The default store of forklore: one SQLite file that several processes share.
//!
//! The events that a session wrote itself form one segment. What it inherits is a list of spans
//! (ranges) of its ancestors' segments, fixed at the fork. Each store operation runs in a
//! transaction. Writers of all processes take turns through a lock file (the gate); readers never
//! wait for a writer.

mod ancestry;
mod append;
mod change;
mod chunk;
mod connect;
mod copy;
mod crc;
mod create;
mod detach;
mod fault;
mod feed;
mod health;
mod key;
mod list;
mod locate;
mod location;
mod maintenance;
mod migrate;
mod number;
mod open_files;
mod pack;
mod pack_rows;
mod port;
mod private;
mod read;
mod read_cache;
#[doc(hidden)]
pub mod records;
mod remove;
mod row;
mod search;
mod segment;
mod session;
mod sources;
mod store;
mod sync;
mod transaction;
mod trim;
mod verify;
mod write;
mod writers;

pub use health::sqlite_version;
pub use store::{Checkpoints, Options, SqliteStore};
