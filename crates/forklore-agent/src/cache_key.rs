//! The name under which providers cache what the requests of a family share.

use forklore_core::SessionId;

/// The cache key of a family: the same for all of its sessions, without any private text (SPEC 15).
#[must_use]
pub fn cache_key(root: &SessionId) -> String {
    SessionId::derived("forklore", &["cache", root.as_str()])
        .map_or_else(|_| "forklore".to_owned(), |id| id.to_string())
}
