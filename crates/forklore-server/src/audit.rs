//! The log of writes: who asked for what, and what the server answered. It has no session text and no
//! token.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::access::Caller;

/// The size of a file, in bytes, from which on the next line begins a new one.
const LONGEST: u64 = 16 << 20;
/// How many older files stay, as `audit.jsonl.1` and so on. The oldest is removed.
const OLDER: u32 = 4;

/// The log of writes. Clones share the file.
#[derive(Clone)]
pub(crate) struct Audit(Arc<Mutex<Log>>);

struct Log {
    path: PathBuf,
    file: File,
    longest: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    time: Timestamp,
    caller: &'a str,
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    method: &'a str,
    path: &'a str,
    status: u16,
}

impl Audit {
    /// Opens the log, to whose end lines are added. Creates the file if it does not exist.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        Self::with_longest(path, LONGEST)
    }

    fn with_longest(path: &Path, longest: u64) -> std::io::Result<Self> {
        let log = Log { path: path.to_owned(), file: opened(path)?, longest };
        Ok(Self(Arc::new(Mutex::new(log))))
    }

    /// Adds a request that was answered.
    pub(crate) fn add(&self, caller: &Caller, method: &str, path: &str, status: u16) {
        let (time, scope) = (Timestamp::now(), caller.scope.as_str());
        let (caller, tenant) = (&caller.name, caller.tenant.as_deref());
        let line = Line { time, caller, scope, tenant, method, path, status };
        let Ok(mut text) = serde_json::to_vec(&line) else { return };
        text.push(b'\n');
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One write for each line, so that lines of several servers do not mix. A full disk must not
        // stop requests that the store accepts.
        let _ = log.rotate();
        let _ = log.file.write_all(&text);
    }
}

impl Log {
    /// Begins a new file if this one is long enough.
    fn rotate(&mut self) -> std::io::Result<()> {
        if self.file.metadata()?.len() < self.longest {
            return Ok(());
        }
        // Another server may have begun a new one meanwhile.
        let is_long = fs::metadata(&self.path).is_ok_and(|found| found.len() >= self.longest);
        if is_long {
            for number in (1..OLDER).rev() {
                let _ = fs::rename(self.older(number), self.older(number + 1));
            }
            fs::rename(&self.path, self.older(1))?;
        }
        self.file = opened(&self.path)?;
        Ok(())
    }

    fn older(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use forklore_api::Scope;

    use super::*;

    #[test]
    fn the_log_has_a_limited_size_and_two_servers_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audits = [(); 2].map(|()| Audit::with_longest(&path, 500).unwrap());
        let caller = Caller { name: "ci".to_owned(), scope: Scope::Write, tenant: None };
        for number in 0..100 {
            audits[number % 2].add(&caller, "POST", &format!("/{number}"), 201);
        }
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let older = [".1", ".2", ".3", ".4"].map(|number| format!("audit.jsonl{number}"));
        assert_eq!(names, [vec!["audit.jsonl".to_owned()], older.to_vec()].concat());
        let mut found = Vec::new();
        for name in names.iter().rev() {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(text.len() < 800, "{name}: {}", text.len());
            found.extend(text.lines().map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["path"].clone()
            }));
        }
        let last: Vec<_> = (0..100).map(|number| format!("/{number}")).collect();
        assert_eq!(found, last[100 - found.len()..]);
    }
}
