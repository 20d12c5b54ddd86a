//! Finds sources and sessions in the store during the import of a file.

use forklore_core::agent_format::{AgentFormat, session_id};
use forklore_core::{Cut, CutError, Header, Selector};
use forklore_engine::{Engine, Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::Store;
use forklore_store::sources::{FindSource, RecordLocation, Source};

use crate::branch_start::Follows;

/// Maximum number of session ids that a search derives from one native id (an agent's own session
/// id).
const SESSIONS: usize = 1_000;

/// Finds the imported files and sessions of one agent format in the store.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) sources: &'a dyn Store,
    pub(crate) format: &'a dyn AgentFormat,
}

impl Lookup<'_> {
    /// Returns the imported files whose session has this native id, newest session first. Derives
    /// the possible session ids from the native id, so that it need not search all files.
    pub(crate) fn sources_of(&self, native_id: &str) -> Result<Vec<Source>> {
        let dialect = self.format.name();
        let mut found = Vec::new();
        for attempt in 0..SESSIONS {
            let Some(id) = session_id(dialect, native_id, attempt) else { continue };
            match self.engine.store().header(&id) {
                Ok(_) => {}
                Err(StoreError::NotFound(_)) => break,
                Err(error) => return Err(error.into()),
            }
            let sources = self.sources.sources(&FindSource::Session(id))?.into_iter();
            found.extend(sources.filter(|s| s.dialect == dialect && s.native_id == native_id));
        }
        found.reverse();
        Ok(found)
    }

    /// Returns the header of the session that contains the record at `location` of the imported
    /// file `source`. Returns `None` if there is no such session or it was deleted.
    pub(crate) fn session_at(
        &self,
        source: &Source,
        location: RecordLocation,
    ) -> Result<Option<Header>> {
        let session = usize::try_from(location.session).ok().and_then(|at| source.sessions.get(at));
        let Some(session) = session else { return Ok(None) };
        let header = self.engine.store().header(&session.id)?;
        Ok(Some(header).filter(|header| header.deleted.is_none()))
    }

    /// Returns the first session, which was not deleted, of the files that have this id of their
    /// agent.
    pub(crate) fn living_session_of(&self, native_id: &str) -> Result<Option<Header>> {
        for source in self.sources_of(native_id)? {
            let Some(first) = source.sessions.first() else { continue };
            let header = self.engine.store().header(&first.id)?;
            if header.deleted.is_none() {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    /// Returns the cut of the session `parent` after the event `after`. If forks inherit none of
    /// the events up to there, the cut is at the start.
    pub(crate) fn cut(&self, parent: &Header, after: Follows) -> Result<Cut> {
        let seq = match after {
            Follows::Nothing | Follows::Inherited(0) => return Ok(Cut::default()),
            Follows::Own(position) => parent.seq_of_own(position),
            Follows::Inherited(seq) | Follows::Seq(seq) => seq,
        };
        let seq = i64::try_from(seq).unwrap_or(i64::MAX);
        match self.engine.cut(parent, &Selector::Seq(seq)) {
            // No event up to this seq is inheritable.
            Err(Error::Cut { source: CutError::NothingToFork { .. }, .. }) => Ok(Cut::default()),
            cut => cut,
        }
    }
}
