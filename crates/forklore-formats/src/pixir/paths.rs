//! Paths of a Pixir session's resource files: `<session>/resources/<id>/<hash>.<ending>`.

use std::path::{Path, PathBuf};

use crate::paths;

/// Maximum depth of a resource file (an attachment) below the directory `resources`, in levels. A
/// file directly in `resources` has depth 1.
const DEPTH: usize = 3;

/// Returns the session log to which a resource file belongs: `<session>.ndjson` for a file in
/// `<session>/resources`. Returns `None` for any other file.
pub(super) fn belongs_to(path: &Path) -> Option<PathBuf> {
    let session = paths::above(path, "resources", DEPTH)?.parent()?;
    paths::with_ending(session, "ndjson")
}

pub(super) fn belongings(path: &Path) -> Option<PathBuf> {
    Some(paths::without_ending(path, "ndjson")?.join("resources"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_belong_to_the_log_next_to_their_folder() {
        let of = |path: &str| belongs_to(Path::new(path));
        let log = Some(PathBuf::from("/w/.pixir/sessions/s.1.ndjson"));
        assert_eq!(of("/w/.pixir/sessions/s.1/resources/res_1/abc.png"), log);
        assert_eq!(of("/w/.pixir/sessions/s.1/resources/abc.ndjson"), log);
        let folder = belongings(Path::new("/w/.pixir/sessions/s.1.ndjson"));
        assert_eq!(folder, Some("/w/.pixir/sessions/s.1/resources".into()));
        for nobodys in ["/w/s/resources", "/resources/a", "/w/s/resources/1/2/3/a", "a.png"] {
            assert_eq!(of(nobodys), None, "{nobodys}");
        }
        assert_eq!(belongings(Path::new("/w/s.jsonl")), None);
    }
}
