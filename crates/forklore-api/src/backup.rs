//! Types of `backup`, and of `restore` when it creates a store from a backup.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The request of `backup`: writes a verified copy of the whole store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// The new file (for an SQLite store) or folder (for any other store on a disk) to write, on
    /// the machine that executes the request. Nothing may exist there yet.
    pub path: PathBuf,
}

/// The answer of `backup`: the backup that was written, and what its verification counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackedUp {
    /// The path of the backup.
    pub path: PathBuf,
    /// The URL with which the backup can be opened, because a backup is a store.
    pub store: String,
    /// The number of sessions in the backup.
    pub sessions: u64,
    /// The number of events in the backup. An event that several sessions share counts once.
    pub events: u64,
    /// The size of the backup in bytes.
    pub bytes: u64,
}

/// The request of `restore` that creates a store from a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreStore {
    /// The backup, on the machine that executes the request.
    pub from: PathBuf,
    /// The URL of the new store. It has the kind of the backup, and nothing may exist there yet.
    pub store: String,
}

/// The answer of `restore` when it created a store from a backup: the new store, and what its
/// verification counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredStore {
    /// The path of the backup.
    pub from: PathBuf,
    /// The URL of the new store.
    pub store: String,
    /// The number of sessions in the new store.
    pub sessions: u64,
    /// The number of events in the new store. An event that several sessions share counts once.
    pub events: u64,
    /// The size of the new store in bytes.
    pub bytes: u64,
}
