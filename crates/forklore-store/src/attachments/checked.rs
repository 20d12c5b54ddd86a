//! Verifies that the bytes of an attachment match its name.

use std::io::{self, Read};

use forklore_core::AttachmentId;
use sha2::{Digest, Sha256};

use super::{Attachments, BUFFER};
use crate::{Error, Result};

/// A reader that verifies the bytes of an attachment while it returns them. If the bytes do not
/// match the attachment's name, the read that reaches the end fails. The error has the kind
/// `InvalidData` and contains a [`Damaged`].
pub struct Checked<R> {
    id: AttachmentId,
    bytes: R,
    digest: Sha256,
}

/// The error for an attachment whose bytes do not match its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its bytes do not have the digest that it is named by")]
pub struct Damaged;

impl<R> Checked<R> {
    /// Creates a reader that returns the bytes of the reader `bytes` and verifies them. `id` is the
    /// name that they must match.
    pub fn new(id: AttachmentId, bytes: R) -> Self {
        Self { id, bytes, digest: Sha256::new() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(into)?;
        self.digest.update(into.get(..read).unwrap_or_default());
        if read == 0 && !into.is_empty() && digest(&self.digest) != self.id {
            return Err(io::Error::new(io::ErrorKind::InvalidData, Damaged));
        }
        Ok(read)
    }
}

/// Returns the attachment name for the bytes that `hash` has hashed so far.
pub(super) fn digest(hash: &Sha256) -> AttachmentId {
    AttachmentId::of(hash.clone().finalize().into())
}

/// Reads an attachment to its end and verifies it. Returns its length in bytes; `None` if the
/// attachment does not exist.
///
/// # Errors
/// `Corrupt` if the bytes do not match the name `id`; `Io` if the attachment cannot be read.
pub fn check(store: &dyn Attachments, id: &AttachmentId) -> Result<Option<u64>> {
    let Some(bytes) = store.open(id)? else { return Ok(None) };
    let (mut checked, mut buffer, mut read) = (Checked::new(*id, bytes), vec![0; BUFFER], 0);
    loop {
        match checked.read(&mut buffer) {
            Ok(0) => return Ok(Some(read)),
            Ok(more) => read += more as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failure(id, error)),
        }
    }
}

/// Converts an error of reading the attachment `id`. An error that contains a [`Damaged`] becomes
/// `Corrupt`; any other error becomes `Io`.
#[must_use]
pub fn failure(id: &AttachmentId, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
        Some(damaged) => damage(id, &damaged.to_string()),
        None => Error::io(format!("reading the attachment {id}"), error),
    }
}

/// Returns the `Corrupt` error for the attachment `id`; `message` describes the damage.
pub(super) fn damage(id: &AttachmentId, message: &str) -> Error {
    Error::Corrupt {
        session: None,
        seq: None,
        location: format!("the attachment {id}"),
        message: message.to_owned(),
    }
}
