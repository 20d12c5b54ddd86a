//! Sidecar files, which contain no session and belong to a file that does: the output of a tool, or
//! a document about the session. A sidecar is a source whose bytes are all stored.

use sha2::{Digest, Sha256};

use super::{RecordKey, Source};
use crate::error::Error;

/// Returns the name of the sources that are sidecars of the session file at `path`.
#[must_use]
pub fn sidecar_key(path: &str) -> RecordKey {
    let digest = Sha256::new().chain_update(b"beside\0").chain_update(path).finalize();
    digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Rejects a sidecar of a session file that is not in the store, or whose session was deleted.
///
/// `latest` is the latest source of that file, and `is_deleted` checks whether a session was
/// deleted.
///
/// # Errors
/// `Stale`, and those of `is_deleted`.
pub fn check_sidecar<E: From<Error>>(
    latest: Option<&Source>,
    mut is_deleted: impl FnMut(&forklore_core::SessionId) -> Result<bool, E>,
) -> Result<(), E> {
    let stale = |message: &str| {
        let message = message.to_owned();
        Err(Error::Stale { what: "the session that the file lies beside", message }.into())
    };
    let Some(latest) = latest.filter(|source| !source.sessions.is_empty()) else {
        return stale("it is not there");
    };
    for session in &latest.sessions {
        if is_deleted(&session.id)? {
            return stale("it was deleted");
        }
    }
    Ok(())
}
