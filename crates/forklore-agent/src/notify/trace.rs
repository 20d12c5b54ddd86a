//! Writes notifications as JSON lines to a trace file. If the file does not exist, creates it, and
//! then only its owner may access it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Notification, Sink};
use crate::{Error, Result};

/// Appends each notification to a file as one JSON line, with a single write. Several processes may
/// append to the same file. By default, omits ephemeral notifications, such as streamed pieces.
#[derive(Debug)]
pub struct Trace {
    state: Mutex<State>,
    pieces: bool,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Whether the file may end with an incomplete line.
    torn: bool,
    lost: u64,
}

impl Trace {
    /// Opens the file, or creates it with access for its owner only. If a killed process left an
    /// incomplete last line, the first write begins on a new line.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
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

    /// Makes the trace include ephemeral notifications, such as every streamed piece.
    #[must_use]
    pub fn with_pieces(mut self) -> Self {
        self.pieces = true;
        self
    }

    /// Returns how many notifications could not be written.
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

/// Writes a line with one call. Returns whether the whole line was written. If not, the file may
/// contain a part of the line.
fn write_once(file: &mut File, line: &[u8]) -> bool {
    loop {
        match file.write(line) {
            Ok(len) => return len == line.len(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
