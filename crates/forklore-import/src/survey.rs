//! Counts the files that an import would find, without reading any session.

use std::path::{Path, PathBuf};

pub use forklore_api::Survey;
use forklore_core::SessionId;
use forklore_engine::sources::path_text;
use forklore_engine::{Error, Result};
use forklore_store::port::Filter;
use forklore_store::sources::FindSource;

use crate::contained::{ContainedSession, ImportStatus};
use crate::file_metadata;
use crate::importer::Importer;
use crate::sidecar::Sidecars;
use crate::source_state;
use crate::walk::{self, Wanted};

impl Importer<'_> {
    /// Counts the files of the agent format `dialect`. Every file among `paths` counts. In a folder
    /// among `paths`, a file counts if its path fits the format. Also counts how many of these
    /// files are in the store. Opens only container files (files with several sessions) that have
    /// no entry of their own in the store, to compare each session with the store. If the store has
    /// no sessions, opens no file. A path that does not exist or cannot be examined does not count.
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, `invalid_args` for an unknown format
    /// name `dialect`, and failures of the store.
    pub fn survey(&self, dialect: &str, paths: &[PathBuf]) -> Result<Survey> {
        let sources = self.engine.sources()?;
        let unknown = || Error::invalid("dialect", format!("there is no dialect {dialect}"));
        let dialect = self.engine.agent_formats().named(dialect).ok_or_else(unknown)?;
        let expander = |path: &Path| {
            let mut own =
                self.engine.containers().iter().filter(|own| own.dialect() == dialect.name());
            own.find(|expander| expander.may_own(path))
        };
        let may_own = |path: &Path| dialect.may_own(path) || expander(path).is_some();
        let mut sidecars = Sidecars::new(self.engine, sources, Some(dialect));
        let wanted = Wanted { may_own: &may_own, belongs: &|path| sidecars.may_be(path) };
        let is_empty = self.is_empty()?;
        let mut survey = Survey::default();
        for path in walk::files(paths, wanted, &mut Vec::new()) {
            let Ok(about) = file_metadata::look(&path) else { continue };
            let latest = source_state::latest(sources, &about.path)?;
            survey.bytes += about.size;
            let mut status = ImportStatus {
                imported: latest.is_some(),
                to_read: !latest.as_ref().is_some_and(|source| source.paths.contains(&about)),
            };
            if sidecars.add_if_sidecar(&path, false)? {
                survey.sidecars += 1;
                survey.to_read += u64::from(status.to_read);
                continue;
            }
            if let Some(expander) = expander(&path).filter(|_| !is_empty && latest.is_none()) {
                status = ContainedSession::status(self.engine, sources, *expander, &path)?;
            }
            survey.files += 1;
            survey.newest = survey.newest.max(file_metadata::time(&about));
            survey.imported += u64::from(status.imported);
            survey.to_read += u64::from(status.to_read);
        }
        Ok(survey)
    }

    /// Checks whether the store has no sessions, not even deleted ones. In that case nothing was
    /// imported yet.
    fn is_empty(&self) -> Result<bool> {
        let filter = Filter { deleted: true, ..Filter::default() };
        let first = self.engine.store().sessions(&filter, None, 1)?;
        Ok(first.sound.is_empty() && first.damaged.is_empty())
    }

    /// Returns the sessions that were imported from the file at this path and were not deleted.
    /// Includes the sessions of the file's earlier revisions (contents before rewrites). The file
    /// itself need not exist.
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, and failures of the store.
    pub fn sessions_of(&self, path: &Path) -> Result<Vec<SessionId>> {
        let by_path = FindSource::Path(path_text(path));
        let mut sessions = Vec::new();
        for session in
            self.engine.sources()?.sources(&by_path)?.into_iter().flat_map(|s| s.sessions)
        {
            if self.engine.store().header(&session.id)?.deleted.is_none() {
                sessions.push(session.id);
            }
        }
        Ok(sessions)
    }
}
