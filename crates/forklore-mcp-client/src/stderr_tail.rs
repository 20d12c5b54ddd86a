//! Stores the end of a server's standard error, for error messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::redact::redact_values;

/// The maximum number of bytes that are stored of a server's standard error.
const CAPACITY: usize = 4096;

/// The last bytes that a server wrote to its standard error. Clones share one buffer.
#[derive(Clone, Default)]
pub(crate) struct StderrTail {
    buffer: Arc<Mutex<VecDeque<u8>>>,
    /// The names of the environment variables whose values are redacted.
    secrets: Arc<[String]>,
}

impl StderrTail {
    /// Creates an empty buffer for the end of a server's standard error. It redacts the values of
    /// the environment variables `secrets`.
    pub(crate) fn without(secrets: &[String]) -> Self {
        Self { buffer: Arc::default(), secrets: secrets.into() }
    }

    fn buffer(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends bytes of the server's standard error. Drops the oldest bytes beyond [`CAPACITY`] in
    /// total.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut buffer = self.buffer();
        let news = bytes.get(bytes.len().saturating_sub(CAPACITY)..).unwrap_or_default();
        let old = (buffer.len() + news.len()).saturating_sub(CAPACITY);
        buffer.drain(..old);
        buffer.extend(news);
    }

    /// Drops all stored bytes of the server's standard error. Called before the program of the
    /// server starts again.
    pub(crate) fn clear(&self) {
        self.buffer().clear();
    }

    /// Returns the last lines of the server's standard error. Redacts secrets, and leaves out a
    /// first line that is incomplete.
    pub(crate) fn lines(&self) -> String {
        let bytes: Vec<u8> = self.buffer().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // A full buffer usually begins in the middle of a line, which is dropped.
        let whole = if bytes.len() < CAPACITY { text.as_str() } else { after_first_line(&text) };
        redact_values(whole.trim(), self.secrets.iter().map(String::as_str))
    }
}

fn after_first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(_, rest)| rest)
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StderrTail")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_stored_and_secrets_redacted() {
        let path = std::env::var("PATH").unwrap();
        let tail = StderrTail::without(&["PATH".to_owned()]);
        tail.push("long ago\n".repeat(CAPACITY).as_bytes());
        tail.push(format!("connecting with {path}\n").as_bytes());
        assert!(tail.lines().ends_with("long ago\nconnecting with [PATH]"), "{}", tail.lines());
    }
}
