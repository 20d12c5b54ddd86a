//! The sessions of a file in the order in which they begin, and the ids and labels of new sessions.

use forklore_core::SessionId;
use forklore_core::agent_format::Record;
use forklore_engine::{Error, Result};
use forklore_store::Store;
use forklore_store::port::NewSession;
use forklore_store::sources::RecordLocation;

use crate::agent_file::AgentFile;
use crate::file_session::{FileSession, Following};
use crate::name_conflicts::NameConflicts;
use crate::new_session::Child;

/// The sessions in one imported file, in the order in which they begin. `conflicts` contains the
/// ids and labels that new sessions of the file must avoid.
pub(crate) struct FileSessions<'a> {
    list: Vec<FileSession>,
    conflicts: &'a mut NameConflicts,
}

impl<'a> FileSessions<'a> {
    pub(crate) fn new(list: Vec<FileSession>, conflicts: &'a mut NameConflicts) -> Self {
        Self { list, conflicts }
    }

    pub(crate) fn list(&self) -> &[FileSession] {
        &self.list
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number that the next session of the file gets, counted from 0.
    pub(crate) fn next_number(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&FileSession> {
        self.list.get(usize::try_from(number).ok()?)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut FileSession> {
        self.list.get_mut(usize::try_from(number).ok()?)
    }

    /// Returns the id of the file's first session. Returns `None` if the file has no session yet,
    /// or if its first session was deleted.
    pub(crate) fn living_first(&self) -> Option<&SessionId> {
        let first = self.list.first().filter(|first| first.following != Following::Deleted);
        first.map(|first| &first.id)
    }

    /// Returns the location of the last event that the file's first session inherits.
    pub(crate) fn end_of_history(&self) -> RecordLocation {
        let inherited = self.list.first().map_or(0, |session| session.inherited);
        RecordLocation { session: 0, position: inherited, inherited: true }
    }

    /// Returns an unused id for the file's first session.
    pub(crate) fn first_id(&self, store: &dyn Store, file: &AgentFile<'_>) -> Result<SessionId> {
        self.conflicts.file_id(store, file.format().name(), file.native_id())
    }

    /// Returns an unused id for the branch that begins with `record`, at byte `offset` of the file.
    /// `repeated` means that an earlier record of the file has the same id.
    pub(crate) fn fork_id(
        &self,
        store: &dyn Store,
        file: &AgentFile<'_>,
        record: &Record,
        repeated: bool,
        offset: u64,
    ) -> Result<SessionId> {
        let first = match &record.native_id {
            Some(id) if !repeated => id.clone(),
            _ => offset.to_string(),
        };
        let Some(root) = self.list.first() else {
            return Err(Error::invalid("source", "the source has no session"));
        };
        self.conflicts.fork_id(store, file.format().name(), &root.id, &first)
    }

    /// Adds a new root, whose label is already set, to the sessions of the file.
    pub(crate) fn add_root(&mut self, new: &NewSession) {
        self.add(new.id.clone(), new);
    }

    fn add(&mut self, root: SessionId, new: &NewSession) {
        self.list.push(FileSession::created(new));
        self.conflicts.add(root, new.id.clone(), new.label.clone());
    }

    /// Adds a new session that begins inside another session. Chooses an unused label for it.
    pub(crate) fn add_child(&mut self, file: &AgentFile<'_>, child: Child) -> Result<NewSession> {
        let root = child.parent.root_id.clone();
        let label = match child.revision {
            Some(revision) => self.conflicts.revision_label(revision, &root, &child.id),
            None => self.conflicts.label(child.kind, &root, &child.id),
        };
        let new = child.into_session(file, label)?;
        self.add(root, &new);
        Ok(new)
    }
}
