//! Records that a program passes on, instead of writing them to a file.

use forklore_core::agent_format::{Parent, Record};
use forklore_engine::Result;
use forklore_store::port::{At, Direction, Query};
use forklore_store::sources::{RecordKey, RecordLocation};

use super::Records;
use crate::event_location::{EventLocation, SIDE};
use crate::file_session::FileSession;
use crate::input::Input;
use crate::pushed_state::PushedState;
use crate::record_keys::record_key;

impl Records<'_> {
    /// Sets the state with which the next push continues.
    pub(crate) fn set_pushed(&mut self, state: PushedState) {
        self.pushed = Some(state);
    }

    /// Creates the file's session if the file has none.
    pub(crate) fn begin_if_missing(&mut self, input: &mut Input) -> Result<()> {
        if self.sessions.is_empty() { self.begin(input, None) } else { Ok(()) }
    }

    /// Records that the line with this key is stored, although it became no event.
    pub(crate) fn add_side(&mut self, key: RecordKey) {
        if self.output.batch().locate(key).is_none() {
            self.output.batch().found(key, SIDE);
        }
    }

    /// Returns the event that a record continues, if it is an event that the file's session
    /// inherits and the file does not repeat: the session is a fork that forklore made, and the
    /// agent goes on before its end.
    pub(super) fn inherited_parent(&mut self, record: &Record) -> Result<Option<EventLocation>> {
        let Some(key) = self.absent_parent(record)? else { return Ok(None) };
        let Some(fork) = self.bare_fork() else { return Ok(None) };
        let is_bare = fork.has_only_inherited();
        let store = self.lookup.engine.store();
        let fork = store.header(&fork.id)?;
        let Some(found) = self.lookup.inherited_record(&fork, key)? else { return Ok(None) };
        let (at, direction) = (At::Seq(found.seq), Direction::Forward);
        let query = Query { at, direction, limit: 1, bare: true };
        let stored = store.read(&found.session, &query)?.events;
        // No message is behind the record, so it is the end of the fork's history.
        let is_last = stored.first().is_some_and(|it| it.counts.index >= fork.inherited.index);
        Ok(Some(found).filter(|_| !is_bare || !is_last))
    }

    /// Returns the end of the inherited history as the location of a record's parent, if the file's
    /// session is a fork without own events and the file does not have the parent. The parent is the
    /// last inherited message, or one with which the agent repaired the end of the history, such as
    /// a result for a call.
    pub(super) fn end_of_fork(&mut self, record: &Record) -> Result<Option<RecordLocation>> {
        let is_bare = self.bare_fork().is_some_and(FileSession::has_only_inherited);
        let is_unknown = is_bare && self.absent_parent(record)?.is_some();
        Ok(is_unknown.then(|| self.sessions.end_of_history()))
    }

    /// Returns the file's first session if it is a fork of which the file repeats nothing.
    fn bare_fork(&self) -> Option<&FileSession> {
        self.pushed.as_ref()?.fork_of()?;
        self.sessions.get(0).filter(|first| first.inherited > 0)
    }

    /// Returns the key of a record's parent, if the file does not have it.
    fn absent_parent(&mut self, record: &Record) -> Result<Option<RecordKey>> {
        let (Parent::Id(id) | Parent::IdOrPrevious(id)) = &record.parent else { return Ok(None) };
        let key = record_key(id.as_bytes());
        let is_absent = self.bare_fork().is_some() && self.output.locate(key)?.is_none();
        Ok(is_absent.then_some(key))
    }
}
