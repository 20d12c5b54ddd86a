//! Sidecars: files without a session that belong to a session file, such as the output of a tool or
//! a document about the session. A sidecar is a source whose bytes are all stored.

use sha2::{Digest, Sha256};

use super::{RecordKey, Source};
use crate::error::Error;

/// Returns the key (a hash) by which the sidecars of the session file at `path` can be found. A
/// sidecar is an extra file without a session. The key is among the names of each of these
/// sidecars.
#[must_use]
pub fn sidecar_key(path: &str) -> RecordKey {
    let digest = Sha256::new().chain_update(b"beside\0").chain_update(path).finalize();
    digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Rejects a sidecar (an extra file of an agent) whose session file has no session in the store.
/// Also rejects it if a session of that file was deleted.
///
/// `latest` is the latest source (imported version) of the session file, and `is_deleted` checks
/// whether a session was deleted.
///
/// # Errors
/// `Stale` if the sidecar is rejected, and the errors of `is_deleted`.
pub fn check_sidecar<E: From<Error>>(
    latest: Option<&Source>,
    mut is_deleted: impl FnMut(&forklore_core::SessionId) -> Result<bool, E>,
) -> Result<(), E> {
    let stale = |message: &str| {
        let message = message.to_owned();
        Err(Error::Stale { what: "the session that the file lies beside".into(), message }.into())
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
