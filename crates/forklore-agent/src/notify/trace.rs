//! A trace of all notifications, as JSON lines in a file that only its owner may read.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Notification, Sink};
use crate::{Error, Result};

/// Appends each notification to a file as one line, with a single write. Several processes may
/// append to the same file. Ephemeral notifications, such as streamed pieces, are omitted unless
/// requested.
#[derive(Debug)]
pub struct Trace {
    state: Mutex<State>,
    pieces: bool,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Whether the last write may have left an incomplete line.
    torn: bool,
    lost: u64,
}

impl Trace {
    /// Opens the file, or creates it so that only its owner may read it. If a killed process left
    /// an incomplete last line, the first write starts a new one.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let failed =
            |source| Error::Io { doing: format!("opening the trace {}", path.display()), source };
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        let torn = ends_torn(&mut file).map_err(failed)?;
        Ok(Self { state: Mutex::new(State { file, torn, lost: 0 }), pieces: false })
    }

    /// Includes ephemeral notifications, such as every streamed piece.
    #[must_use]
    pub fn with_pieces(mut self) -> Self {
        self.pieces = true;
        self
    }

    /// Returns the number of notifications that could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lost
    }
}

fn ends_torn(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

impl Sink for Trace {
    fn take(&self, notification: &Arc<Notification>) {
        if notification.is_ephemeral() && !self.pieces {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = if state.torn { b"\n".to_vec() } else { Vec::new() };
        let written = serde_json::to_writer(&mut line, &**notification).is_ok() && {
            line.push(b'\n');
            write_once(&mut state.file, &line)
        };
        state.torn = !written;
        state.lost += u64::from(!written);
    }
}

/// Writes a line with one call and returns whether it was written completely. After `false`, a part
/// of the line may be in the file.
fn write_once(file: &mut File, line: &[u8]) -> bool {
    loop {
        match file.write(line) {
            Ok(len) => return len == line.len(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
