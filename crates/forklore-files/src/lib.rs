//! A store that `cat`, `grep` and `jq` can read: one JSONL file per session, in a folder per
//! workspace.

pub mod fs;
