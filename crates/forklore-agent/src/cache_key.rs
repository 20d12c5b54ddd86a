//! The prompt-cache key that all sessions of a family send to the provider.

use forklore_core::SessionId;

/// Returns the prompt-cache key of all sessions in the family whose root session is `root`. A
/// family is all sessions with one root. The key contains no private text (docs/semantics.md, Model
/// requests).
#[must_use]
pub fn cache_key(root: &SessionId) -> String {
    SessionId::derived("forklore", &["cache", root.as_str()])
        .map_or_else(|_| "forklore".to_owned(), |id| id.to_string())
}
