//! Files that hold no session and lie beside one that does: the output of a tool, a document about
//! the session. Such a file is a source whose bytes are all kept.

use sha2::{Digest, Sha256};

use super::{RecordKey, Source};
use crate::error::Error;

/// The name that those sources go by that lie beside the session file at `path`.
#[must_use]
pub fn sidecar_key(path: &str) -> RecordKey {
    let digest = Sha256::new().chain_update(b"beside\0").chain_update(path).finalize();
    digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Refuses to keep a file beside one whose session is not there, or is no more.
///
/// `latest` is the latest source of that file, and `is_deleted` says what became of its sessions.
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
