//! Path functions with which formats find the files that belong to a session file.

use std::path::{Path, PathBuf};

/// Returns the innermost directory called `name` that contains the file at `path`. Searches at most
/// `depth` levels above the file. Returns `None` if there is no such directory.
pub(crate) fn above<'p>(path: &'p Path, name: &str, depth: usize) -> Option<&'p Path> {
    let is = |folder: &&Path| folder.file_name().is_some_and(|it| it == name);
    path.ancestors().skip(1).take(depth).find(is)
}

/// Returns the path with `.` and the extension `ending` appended to its file name. Returns `None`
/// if the path has no file name.
pub(crate) fn with_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(".");
    name.push(ending);
    Some(path.with_file_name(name))
}

/// Returns the path without the extension `ending`, or `None` if it has another extension or none.
pub(crate) fn without_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let is = path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
    is.then(|| path.with_extension(""))
}
