//! The position up to which a file is read: the number of bytes accounted for, and their sha256.

use sha2::{Digest, Sha256};

/// The position up to which a file is read.
pub(crate) struct Position {
    offset: u64,
    hash: Sha256,
    /// How many bytes after `offset` the current record begins; `None` between records.
    inside: Option<usize>,
}

impl Position {
    /// Returns the position after `offset` bytes. `hash` is the state of their sha256.
    pub(crate) fn after(offset: u64, hash: Sha256) -> Self {
        Self { offset, hash, inside: None }
    }

    /// Returns the number of bytes accounted for, from the beginning of the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the sha256 of the bytes accounted for.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// Advances the position over these bytes of the file.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
    }

    /// Starts a record `at` bytes after the present offset.
    pub(crate) fn enter(&mut self, at: usize) {
        self.inside = Some(at);
    }

    /// Ends the current record.
    pub(crate) fn leave(&mut self) {
        self.inside = None;
    }

    /// Checks whether a record has started and not ended. Its bytes are not accounted for yet.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Returns the byte offset of the current record in the file.
    pub(crate) fn of_record(&self) -> u64 {
        self.offset + self.inside.unwrap_or(0) as u64
    }
}
