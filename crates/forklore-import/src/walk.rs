//! Finds the regular files at given paths and in given folders. Symbolic links that lead out of a
//! folder are not followed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use forklore_sanitize::path::contained;

use crate::report::{OfFile as _, Problem, ProblemKind};

/// Decides whether a file in a searched folder is selected for an import. Only the path of the file
/// counts.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Checks by a file's path whether the file may contain a session.
    pub(crate) may_own: &'a dyn Fn(&Path) -> bool,
    /// Checks by a file's path whether the file may be a sidecar file. Such a file has no session
    /// and belongs to a session file.
    pub(crate) belongs: &'a dyn Fn(&Path) -> bool,
}

/// Returns the files at `paths`, and the files in the folders at `paths` that `wanted` selects.
/// Resolves symbolic links. Adds unreadable paths to `problems`.
pub(crate) fn files(
    paths: &[PathBuf],
    wanted: Wanted<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<PathBuf> {
    let mut walk = Walk { found: Vec::new(), seen: HashSet::new(), wanted, problems };
    for path in paths {
        match path.canonicalize() {
            Ok(real) if real.is_dir() => walk.folder(&real),
            Ok(real) => walk.named(&real),
            Err(error) => walk.problem(path, ProblemKind::Unreadable, error.to_string()),
        }
    }
    walk.found
}

struct Walk<'a> {
    found: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    wanted: Wanted<'a>,
    problems: &'a mut Vec<Problem>,
}

impl Wanted<'_> {
    fn has(self, path: &Path) -> bool {
        (self.belongs)(path) || (self.may_own)(path) && !next_to_plain(path)
    }
}

impl Walk<'_> {
    fn named(&mut self, real: &Path) {
        if real.is_file() {
            self.add(real.to_owned());
        } else {
            self.problem(real, ProblemKind::Unreadable, "not a regular file".into());
        }
    }

    fn add(&mut self, real: PathBuf) {
        if self.seen.insert(real.clone()) {
            self.found.push(real);
        }
    }

    fn folder(&mut self, root: &Path) {
        let mut waiting = vec![root.to_owned()];
        while let Some(folder) = waiting.pop() {
            if !self.seen.insert(folder.clone()) {
                continue;
            }
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.problem(&folder, ProblemKind::Unreadable, error.to_string());
                    continue;
                }
            };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                let (real, kind) = if kind.is_symlink() {
                    // A link that leads out of the root folder, or to a missing file, is not
                    // followed.
                    let Ok(real) = contained(root, &path) else { continue };
                    let Ok(about) = real.symlink_metadata() else { continue };
                    (real, about.file_type())
                } else {
                    (path, kind)
                };
                if kind.is_dir() {
                    waiting.push(real);
                } else if kind.is_file() && self.wanted.has(&real) {
                    self.add(real);
                }
            }
        }
    }

    fn problem(&mut self, path: &Path, kind: ProblemKind, message: String) {
        self.problems.push(Problem::of_file(path, kind, message));
    }
}

/// Checks by a file's name whether the file contains JSON lines, compressed or not.
pub(crate) fn is_lines(path: &Path) -> bool {
    let is = |path: &Path, ending| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
    };
    is(path, "jsonl")
        || is(path, "ndjson")
        || (is(path, "zst") && is(&path.with_extension(""), "jsonl"))
}

/// Checks whether `path` is a compressed file next to its uncompressed version. In that case the
/// agent writes only to the uncompressed version.
fn next_to_plain(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
        && path.with_extension("").is_file()
}
