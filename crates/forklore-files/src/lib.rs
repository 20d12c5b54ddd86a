//! A store that `cat`, `grep` and `jq` can read: one file of JSON lines per session, in a folder
//! per workspace.
//!
//! A session's file holds what it wrote itself; what it inherits are spans of its ancestors'
//! files, fixed when it was forked. An append is one write and one sync, a step over several files
//! is written down as a whole before it is done.

mod append;
mod change;
mod claim;
mod commit;
mod copy;
mod create;
mod feed;
mod folder;
mod health;
mod history;
mod label;
mod layout;
mod line;
mod lines;
mod list;
mod log;
mod maintenance;
mod name;
mod needs;
mod overlay;
mod pending;
mod port;
mod read;
mod record;
mod remove;
mod session;
mod sources;
mod store;
mod transaction;
mod verify;

pub use forklore_store::disk::fs;
pub use store::{FilesStore, Options};
