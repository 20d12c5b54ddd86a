//! The position up to which a file is read: the number of bytes accounted for, and their sha256.

use sha2::{Digest, Sha256};

/// The reading position in a file: how many bytes were imported, and their hash.
pub(crate) struct Position {
    offset: u64,
    hash: Sha256,
    /// The distance in bytes from `offset` to the beginning of the current record; `None` between
    /// records.
    inside: Option<usize>,
}

impl Position {
    /// Creates the reading position after the first `offset` bytes. `hash` is the sha256 state of
    /// these bytes.
    pub(crate) fn after(offset: u64, hash: Sha256) -> Self {
        Self { offset, hash, inside: None }
    }

    /// Returns how many bytes of the file were imported, counted from its beginning.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the sha256 of all bytes before the reading position.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// Returns the state of the sha256 of all bytes before the reading position.
    pub(crate) fn hash(&self) -> &Sha256 {
        &self.hash
    }

    /// Returns the sha256 of all bytes before the reading position, followed by `more`.
    pub(crate) fn sha256_with(&self, more: &[u8]) -> [u8; 32] {
        self.hash.clone().chain_update(more).finalize().into()
    }

    /// Advances the reading position over these bytes of the file, and adds them to the hash of the
    /// imported bytes.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
    }

    /// Marks the start of a record, `at` bytes after the reading position.
    pub(crate) fn enter(&mut self, at: usize) {
        self.inside = Some(at);
    }

    /// Marks the end of the current record.
    pub(crate) fn leave(&mut self) {
        self.inside = None;
    }

    /// Checks whether the start of a record was marked, but not its end. The reading position is
    /// still before that record.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Returns the byte offset in the file at which the current record begins, or the reading
    /// position between records.
    pub(crate) fn of_record(&self) -> u64 {
        self.offset + self.inside.unwrap_or(0) as u64
    }
}
