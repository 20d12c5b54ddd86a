//! A store that `cat`, `grep` and `jq` can read: one file of JSON lines per session, in one folder
//! per workspace.
//!
//! A session's file has the events that the session wrote itself. What it inherits is a list of
//! spans (ranges) of its ancestors' files, fixed at the fork. An append is one write and one sync.
//! A change to several files is first written to a journal as a whole.

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
