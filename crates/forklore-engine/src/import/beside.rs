//! The files that lie beside those of sessions: which they are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::AgentFormat;
use forklore_store::sources::{FindSource, Sources};

use super::seen;
use super::spelled::spelled;
use super::walk::{self, Wanted};
use crate::{Engine, Result};

/// A file without a session of its own, and the session file that it lies beside.
pub(super) struct Beside {
    pub(super) path: PathBuf,
    pub(super) dialect: &'static dyn AgentFormat,
    pub(super) of: PathBuf,
    /// Its size.
    pub(super) size: u64,
    /// Whether a person named it.
    pub(super) named: bool,
}

/// The files beside that were found.
pub(super) struct Besides<'a> {
    sources: &'a dyn Sources,
    dialects: Vec<&'static dyn AgentFormat>,
    taken: HashSet<PathBuf>,
    pub(super) found: Vec<Beside>,
}

impl<'a> Besides<'a> {
    /// Looks for files of one agent, or of all.
    pub(super) fn new(
        engine: &Engine,
        sources: &'a dyn Sources,
        asked: Option<&'static dyn AgentFormat>,
    ) -> Self {
        let dialects = asked.map_or_else(|| engine.dialects().0.to_vec(), |asked| vec![asked]);
        Self { sources, dialects, taken: HashSet::new(), found: Vec::new() }
    }

    /// Whether a file may lie beside a session's, by its path.
    pub(super) fn may_be(&self, path: &Path) -> bool {
        self.dialects.iter().any(|dialect| dialect.belongs_to(path).is_some())
    }

    /// Takes a file that lies beside a session's, which is there or was. Of a session file that
    /// was named it takes all that lie beside it.
    pub(super) fn take(&mut self, path: &Path, named: bool) -> Result<bool> {
        for at in 0..self.dialects.len() {
            let Some(dialect) = self.dialects.get(at).copied() else { break };
            let Some(of) = dialect.belongs_to(path) else { continue };
            if of.is_file() || self.is_known(&of)? {
                self.add(path.to_owned(), dialect, of, named);
                return Ok(true);
            }
        }
        if named {
            self.take_all(path);
        }
        Ok(false)
    }

    fn is_known(&self, of: &Path) -> Result<bool> {
        let by_path = FindSource::Latest(spelled(of));
        Ok(!self.sources.sources(&by_path)?.is_empty())
    }

    fn take_all(&mut self, of: &Path) {
        for dialect in self.dialects.clone() {
            let Some(folder) = dialect.belongings(of).filter(|folder| folder.is_dir()) else {
                continue;
            };
            let belongs = |path: &Path| dialect.belongs_to(path).is_some_and(|it| it == of);
            let wanted = Wanted { may_own: &|_| false, belongs: &belongs };
            for path in walk::files(&[folder], wanted, &mut Vec::new()) {
                self.add(path, dialect, of.to_owned(), false);
            }
        }
    }

    fn add(&mut self, path: PathBuf, dialect: &'static dyn AgentFormat, of: PathBuf, named: bool) {
        if self.taken.insert(path.clone()) {
            let size = seen::look(&path).map_or(0, |seen| seen.size);
            self.found.push(Beside { path, dialect, of, size, named });
        }
    }
}
