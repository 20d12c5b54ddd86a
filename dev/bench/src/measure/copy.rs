//! The method by which agents fork today: they copy the session's file.

use std::fs::{self, File};
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::error::{Doing, Result};
use crate::samples::timed;
use crate::scene::{Scene, message};

/// A session in a file with one line per message. It is forked by copying the file, as agents do.
pub(super) struct Plain {
    file: PathBuf,
    copy: PathBuf,
    dir: TempDir,
}

impl Plain {
    pub(super) fn session(scene: &Scene, events: usize) -> Result<Self> {
        let dir = scene.folder()?;
        let file = dir.path().join("session.jsonl");
        write(&file, events)?;
        Ok(Self { file, copy: dir.path().join("copy.jsonl"), dir })
    }

    /// Forks the session by copying its file, and returns the duration. Like the forks of the other
    /// implementations, the copy is durable at the end of this duration. Afterwards, removes the
    /// copy.
    pub(super) fn fork(&self) -> Result<Duration> {
        let took = timed(|| {
            fs::copy(&self.file, &self.copy).doing("cannot copy", &self.file)?;
            for folder in [&*self.copy, self.dir.path()] {
                File::open(folder).and_then(|it| it.sync_all()).doing("cannot sync", folder)?;
            }
            Ok(())
        })?;
        fs::remove_file(&self.copy).doing("cannot remove", &self.copy)?;
        Ok(took)
    }

    /// Returns the number of bytes that one fork by copying adds: the size of the session's file.
    pub(super) fn size(&self) -> Result<u64> {
        Ok(fs::metadata(&self.file).doing("cannot see", &self.file)?.len())
    }
}

/// Writes a session file with `events` messages, one message per line.
fn write(file: &Path, events: usize) -> Result<()> {
    let mut lines = BufWriter::new(File::create(file).doing("cannot make", file)?);
    for number in 0..events {
        let event = message(number)?;
        writeln!(lines, r#"{{"type":"{}","data":{}}}"#, event.kind, event.data.get())
            .doing("cannot write", file)?;
    }
    let written = lines.into_inner().map_err(IntoInnerError::into_error);
    written.and_then(|written| written.sync_all()).doing("cannot write", file)
}
