//! Writes answers as JSON.

use std::cell::RefCell;
use std::io::{self, Write};

use forklore::api::{Envelope, ErrorObject};
use forklore::core::SessionId;
use forklore_sanitize::terminal;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

/// Writes an answer as JSON: `{"ok":true, ...}` with the fields of `answer`, or
/// `{"ok":false,"error":...}` if there is an error. Adds the field `also` (the other sessions of an
/// imported file) if it is not empty.
pub(super) fn envelope<T: Serialize>(
    out: &mut impl Write,
    answer: &T,
    error: Option<ErrorObject>,
    also: &[SessionId],
) -> io::Result<()> {
    let also = also.to_vec();
    Ok(serde_json::to_writer(out, &Envelope { ok: error.is_none(), error, answer, also })?)
}

/// A list inside an answer. The list is serialized while its items are read, so that they need not
/// fit into memory.
pub(crate) struct List<I, E>(RefCell<(I, Option<E>)>);

impl<T, E, I: Iterator<Item = Result<T, E>>> List<I, E> {
    pub(crate) fn of(items: I) -> Self {
        Self(RefCell::new((items, None)))
    }

    /// Checks that all items of the list were read. The items before an error are already written.
    ///
    /// # Errors
    /// The error of the item that could not be read.
    pub(crate) fn outcome(self) -> Result<(), E> {
        self.0.into_inner().1.map_or(Ok(()), Err)
    }
}

impl<T: Serialize, E, I: Iterator<Item = Result<T, E>>> Serialize for List<I, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (items, failed) = &mut *self.0.borrow_mut();
        let mut list = serializer.serialize_seq(None)?;
        for item in items {
            match item {
                Ok(item) => list.serialize_element(&item)?,
                Err(error) => {
                    *failed = Some(error);
                    return Err(S::Error::custom("the list could not be read to its end"));
                }
            }
        }
        list.end()
    }
}

/// The maximum number of bytes of an unfinished line that are buffered before they are escaped.
const PENDING: usize = 64 << 10;

/// A writer for lines of JSON: verbatim to a pipe, escaped to a terminal.
pub(crate) struct Lines<'a> {
    out: &'a mut dyn Write,
    is_terminal: bool,
    /// The bytes that are not escaped yet. They may end in the middle of a character.
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
        let waiting = self.pending.len();
        self.pending.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.escape(waiting + end + 1)?;
        }
        if self.pending.len() > PENDING {
            let begins = |byte: &u8| !(0x80..0xc0).contains(byte);
            self.escape(self.pending.iter().rposition(begins).unwrap_or(0))?;
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
        // Escape the last line, which may lack a newline. If that fails, the next write reports the
        // error.
        let _ = self.escape(self.pending.len());
    }
}
