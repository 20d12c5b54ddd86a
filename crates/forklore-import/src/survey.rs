//! What an import would find, without reading any session.

use std::path::{Path, PathBuf};

use forklore_core::SessionId;
use forklore_engine::sources::path_text;
use forklore_engine::{Error, Result};
use forklore_store::port::Filter;
use forklore_store::sources::FindSource;
use jiff::Timestamp;
use serde::Serialize;

use crate::contained::{ContainedSession, ImportStatus};
use crate::importer::Importer;
use crate::seen;
use crate::sidecar::Sidecars;
use crate::walk::{self, Wanted};

/// The session files at some places, told by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Files of sessions.
    pub files: u64,
    /// Files that lie beside them.
    #[serde(rename = "beside")]
    pub sidecars: u64,
    /// The sizes of all together.
    pub bytes: u64,
    /// When the latest of them was written.
    pub newest: Option<Timestamp>,
    /// How many of them were imported before.
    pub imported: u64,
    /// How many of all have something in them that was not imported.
    pub to_read: u64,
}

impl Importer<'_> {
    /// Looks at the files, and those in folders, that by their names are a dialect's: how many
    /// there are, and how many of them are in the store. Of files that hold several sessions it
    /// is asked how each stands; no other file is opened. What is not there, or cannot be looked
    /// at, is no part of it.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, `invalid_args` for an unknown dialect, and
    /// failures of the store.
    pub fn survey(&self, dialect: &str, places: &[PathBuf]) -> Result<Survey> {
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
        for path in walk::files(places, wanted, &mut Vec::new()) {
            let Ok(about) = seen::look(&path) else { continue };
            let sources_of_path = sources.sources(&FindSource::Latest(about.path.clone()))?;
            let latest = sources_of_path.first();
            survey.bytes += about.size;
            let mut status = ImportStatus {
                imported: latest.is_some(),
                to_read: !latest.is_some_and(|source| source.paths.contains(&about)),
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
            survey.newest = survey.newest.max(seen::time(&about));
            survey.imported += u64::from(status.imported);
            survey.to_read += u64::from(status.to_read);
        }
        Ok(survey)
    }

    /// Whether the store has no session, so that nothing can have been imported.
    fn is_empty(&self) -> Result<bool> {
        let filter = Filter { deleted: true, ..Filter::default() };
        let first = self.engine.store().sessions(&filter, None, 1)?;
        Ok(first.sound.is_empty() && first.damaged.is_empty())
    }

    /// The sessions read from the file at this path, which may be gone, in any revision of it.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, and failures of the store.
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
