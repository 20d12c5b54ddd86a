//! The options of an import.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forklore_api::Import;
use forklore_core::workspace::Workspace;

/// Maximum number of attempts to import a file that concurrent writes or name conflicts make fail.
pub(crate) const ATTEMPTS: usize = 20;

/// Options of an import: those of the request [`Import`], and those that only this process has.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The dialect of the files; `None` tries every dialect.
    pub from: Option<String>,
    /// The workspace of sessions whose file names no directory.
    pub workspace: Workspace,
    /// Whether to import deleted sessions again, under new ids.
    pub again: bool,
    /// Whether the paths were discovered and not named by a person. A discovered file without
    /// sessions is then no problem.
    pub found: bool,
    /// Stops the import when it is set. What was written until then stays, and the next import
    /// continues from there.
    pub stop: Arc<AtomicBool>,
}

impl ImportOptions {
    /// Returns options for every dialect that leave deleted sessions deleted.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { from: None, workspace, again: false, found: false, stop: Arc::default() }
    }

    /// Returns the options of a request.
    #[must_use]
    pub fn of(request: &Import) -> Self {
        let (from, again) = (request.dialect.clone(), request.again);
        Self { from, again, ..Self::in_workspace(request.workspace.clone()) }
    }

    /// Checks whether the import must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_decides_dialect_workspace_and_deleted_sessions() {
        let workspace = Workspace::new("/demo");
        let request = Import {
            dialect: Some("pi".into()),
            again: true,
            ..Import::of(Vec::new(), workspace.clone())
        };
        let options = ImportOptions::of(&request);
        assert_eq!(
            (options.from, options.workspace, options.again, options.found),
            (Some("pi".into()), workspace, true, false)
        );
    }
}
