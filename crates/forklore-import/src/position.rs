//! How far a file is read: the bytes accounted for and their sha256.

use sha2::{Digest, Sha256};

/// How far a file is read.
pub(crate) struct Position {
    offset: u64,
    hash: Sha256,
    /// How far inside the text at `offset` the record begins that is being taken in.
    inside: Option<usize>,
}

impl Position {
    /// After `offset` bytes with this hash.
    pub(crate) fn after(offset: u64, hash: Sha256) -> Self {
        Self { offset, hash, inside: None }
    }

    /// The bytes accounted for.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Their sha256.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// Accounts for bytes of the file.
    pub(crate) fn account(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.offset += bytes.len() as u64;
    }

    /// A record is taken in that begins so far inside the text at the offset.
    pub(crate) fn enter(&mut self, at: usize) {
        self.inside = Some(at);
    }

    /// The text at the offset is taken in.
    pub(crate) fn leave(&mut self) {
        self.inside = None;
    }

    /// Whether a record is being taken in whose bytes are not accounted for.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Where the record begins that is being taken in.
    pub(crate) fn of_record(&self) -> u64 {
        self.offset + self.inside.unwrap_or(0) as u64
    }
}
