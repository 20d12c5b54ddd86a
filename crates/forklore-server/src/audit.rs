//! The log of writes: who asked for what, and what the server answered. It has no session text and no
//! token.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::access::Caller;

/// The log of writes. Clones share the file.
#[derive(Clone, Default)]
pub(crate) struct Audit(Option<Arc<Mutex<File>>>);

#[derive(Serialize)]
struct Line<'a> {
    time: Timestamp,
    caller: &'a str,
    scope: &'a str,
    method: &'a str,
    path: &'a str,
    status: u16,
}

impl Audit {
    /// Opens the log, to whose end lines are added. Creates the file if it does not exist.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self(Some(Arc::new(Mutex::new(options.open(path)?)))))
    }

    /// Adds a request that was answered.
    pub(crate) fn add(&self, caller: &Caller, method: &str, path: &str, status: u16) {
        let Some(file) = &self.0 else { return };
        let (time, scope) = (Timestamp::now(), caller.scope.as_str());
        let line = Line { time, caller: &caller.name, scope, method, path, status };
        let Ok(mut text) = serde_json::to_vec(&line) else { return };
        text.push(b'\n');
        // One write for each line, so that lines of several servers do not mix. A full disk must not
        // stop requests that the store accepts.
        let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&text);
    }
}
