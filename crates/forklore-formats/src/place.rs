//! What paths say about the files that lie beside a session's.

use std::path::{Path, PathBuf};

/// The folder of this name that a file lies in, at most so many folders deep; the innermost one.
pub(crate) fn above<'p>(path: &'p Path, name: &str, depth: usize) -> Option<&'p Path> {
    let is = |folder: &&Path| folder.file_name().is_some_and(|it| it == name);
    path.ancestors().skip(1).take(depth).find(is)
}

/// The path with an ending behind its last part, whatever dots are in that.
pub(crate) fn with_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(".");
    name.push(ending);
    Some(path.with_file_name(name))
}

/// The same without the ending, where it has that.
pub(crate) fn without_ending(path: &Path, ending: &str) -> Option<PathBuf> {
    let is = path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
    is.then(|| path.with_extension(""))
}
