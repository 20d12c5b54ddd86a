//! The position up to which a file is read: the bytes accounted for, and their sha256.

use sha2::{Digest, Sha256};

/// The position up to which a file is read.
pub(crate) struct Position {
    offset: u64,
    hash: Sha256,
    /// The offset of the present record in the text that begins at `offset`.
    inside: Option<usize>,
}

impl Position {
    /// Returns the position after `offset` bytes with this hash.
    pub(crate) fn after(offset: u64, hash: Sha256) -> Self {
        Self { offset, hash, inside: None }
    }

    /// Returns the number of bytes accounted for.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the sha256 of the bytes accounted for.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// Accounts for further bytes of the file.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
    }

    /// Starts a record at `at` in the text that begins at the present offset.
    pub(crate) fn enter(&mut self, at: usize) {
        self.inside = Some(at);
    }

    /// Ends the present record.
    pub(crate) fn leave(&mut self) {
        self.inside = None;
    }

    /// Checks whether a record has started whose bytes are not accounted for.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Returns the byte offset of the present record in the file.
    pub(crate) fn of_record(&self) -> u64 {
        self.offset + self.inside.unwrap_or(0) as u64
    }
}
