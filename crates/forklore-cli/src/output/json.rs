//! Answers as JSON.

use std::io::{self, Write};

use forklore::model::SessionId;
use forklore_guard::terminal;
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<'a, T> {
    ok: bool,
    #[serde(flatten)]
    answer: &'a T,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    also: &'a [SessionId],
}

/// `{"ok":true, ...}` with the fields of `answer`.
pub(super) fn envelope<T: Serialize>(answer: &T, also: &[SessionId]) -> io::Result<String> {
    Ok(serde_json::to_string(&Envelope { ok: true, answer, also })?)
}

/// Lines of JSON on their way out: verbatim into a pipe, escaped onto a terminal.
pub(crate) struct Lines<'a> {
    out: &'a mut dyn Write,
    is_terminal: bool,
    /// Bytes that a character may not be whole in yet.
    pending: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(out: &'a mut dyn Write, is_terminal: bool) -> Self {
        Self { out, is_terminal, pending: Vec::new() }
    }

    fn escape(&mut self, upto: usize) -> io::Result<()> {
        let rest = self.pending.split_off(upto);
        let whole = std::mem::replace(&mut self.pending, rest);
        let text = String::from_utf8_lossy(&whole);
        self.out.write_all(terminal::json(&text).as_bytes())
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.pending.extend_from_slice(bytes);
        if let Some(end) = self.pending.iter().rposition(|byte| *byte == b'\n') {
            self.escape(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.escape(self.pending.len())?;
        self.out.flush()
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        // A text without a last line break; what cannot be written now fails at the next write.
        let _ = self.escape(self.pending.len());
    }
}
