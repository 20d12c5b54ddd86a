//! The paths that a person named, and the reasons why some of them gave no session.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forklore_engine::sources::{path_of, path_text};

use crate::options::ImportOptions;
use crate::report::{ImportReport, OfFile as _, Problem, ProblemKind};

const NO_SESSION: &str = "no session is in the file";

/// The paths that a person named for an import. Empty if a search found the paths instead.
pub(crate) struct NamedPaths<'p> {
    paths: &'p [PathBuf],
    /// The same paths with symbolic links resolved, without the paths that do not exist.
    real: HashSet<PathBuf>,
}

impl<'p> NamedPaths<'p> {
    pub(crate) fn of(paths: &'p [PathBuf], options: &ImportOptions) -> Self {
        let paths = if options.found { &[] } else { paths };
        let real = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Self { paths, real }
    }

    /// Checks whether a person named this path, which must have no symbolic links.
    pub(crate) fn has(&self, real: &Path) -> bool {
        self.real.contains(real)
    }

    /// Adds to the report which of the paths gave no session, each with a reason. `unknown` are the
    /// files in folders that look like session files but were written by no known agent.
    pub(crate) fn report_failures(&self, unknown: &[Problem], report: &mut ImportReport) {
        for path in self.paths {
            let failed = match path.canonicalize() {
                Err(_) => reason(&path_text(path), report),
                Ok(real) if real.is_dir() => empty_folder(&real, unknown, report),
                Ok(real) => empty_file(&real, report),
            };
            report.failed.extend(failed);
        }
    }
}

/// Returns the reason why this file gave no session, or `None` if it did. Adds the reason to the
/// report's problems if it is not among them.
fn empty_file(real: &Path, report: &mut ImportReport) -> Option<Problem> {
    let path = path_text(real);
    let inside = format!("{path}#");
    let of_file = |other: &str| other == path || other.starts_with(&inside);
    let has_session = report.sources.iter().any(|it| of_file(&it.path) && !it.sessions.is_empty());
    if has_session || report.stored.iter().any(|sidecar| sidecar.path == path) {
        return None;
    }
    reason(&path, report).or_else(|| {
        let problem = Problem::of_file(real, ProblemKind::UnknownFormat, NO_SESSION.to_owned());
        report.problems.push(problem.clone());
        Some(problem)
    })
}

/// Returns why this folder gave no session, or `None` if it did. A folder with no files that could
/// have sessions is no failure.
fn empty_folder(real: &Path, unknown: &[Problem], report: &mut ImportReport) -> Option<Problem> {
    let below = |path: &str| path_of(path).starts_with(real);
    let has_session = report.sources.iter().any(|it| below(&it.path) && !it.sessions.is_empty());
    if has_session || report.stored.iter().any(|sidecar| below(&sidecar.path)) {
        return None;
    }
    if let Some(problem) = report.problems.iter().find(|problem| below(&problem.path)) {
        return Some(problem.clone());
    }
    let passed_over: Vec<_> = unknown.iter().filter(|problem| below(&problem.path)).collect();
    let first = Problem::clone(passed_over.first()?);
    report.problems.extend(passed_over.into_iter().cloned());
    Some(first)
}

fn reason(path: &str, report: &ImportReport) -> Option<Problem> {
    report.problems.iter().find(|problem| problem.path == path).cloned()
}
