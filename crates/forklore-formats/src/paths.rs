//! Path functions for the files that belong to a session file.

use std::path::{Path, PathBuf};

/// Returns the innermost directory of this name above a file, at most `depth` levels up.
pub(crate) fn above<'p>(path: &'p Path, name: &str, depth: usize) -> Option<&'p Path> {
    let is = |folder: &&Path| folder.file_name().is_some_and(|it| it == name);
    path.ancestors().skip(1).take(depth).find(is)
}

/// Returns the path with `.` and an extension appended to its file name.
pub(crate) fn with_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(".");
    name.push(ending);
    Some(path.with_file_name(name))
}

/// Returns the path without this extension, or `None` if it has another one.
pub(crate) fn without_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let is = path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
    is.then(|| path.with_extension(""))
}
