//! Paths of the documents about sessions: `<session>.settings.json`, next to the session's file.

use std::path::{Path, PathBuf};

use crate::paths;

/// Maximum number of directory levels between a document and `sessions/`.
const DEPTH: usize = 3;

/// Returns the session file to which the document at `path` belongs. Returns `None` if the path is
/// not that of such a document.
pub(super) fn belongs_to(path: &Path) -> Option<PathBuf> {
    paths::above(path, "sessions", DEPTH)?;
    let session = path.file_name()?.to_str()?.strip_suffix(".settings.json")?;
    Some(path.with_file_name(format!("{session}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_belong_to_the_session_next_to_them() {
        let of = |path: &str| belongs_to(Path::new(path));
        let settings = "/f/sessions/-w/s1.settings.json";
        assert_eq!(of(settings), Some("/f/sessions/-w/s1.jsonl".into()));
        for other in ["/f/sessions/-w/s1.jsonl", "/w/s1.settings.json", ".settings.json"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
