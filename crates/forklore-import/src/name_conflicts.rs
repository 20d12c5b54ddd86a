//! Session ids and labels that the store refused although they looked free. The next attempt to
//! import the file avoids them.

use std::collections::HashSet;

use forklore_core::agent_format::session_id;
use forklore_core::{Label, SessionId};
use forklore_store::{Error as StoreError, Store};

use forklore_engine::{Error, Result};

const ATTEMPTS: usize = 10_000;

/// Session ids and labels that the new sessions of a file must not get.
#[derive(Debug, Default)]
pub(crate) struct NameConflicts {
    ids: HashSet<SessionId>,
    labels: HashSet<Label>,
    /// The ids of the sessions that this import creates. The store may not contain them yet.
    made: HashSet<SessionId>,
}

impl NameConflicts {
    /// Records that the store refused this id, because another session has it.
    pub(crate) fn refuse_id(&mut self, id: SessionId) {
        self.ids.insert(id);
    }

    /// Records that the store refused this label, because another session has it.
    pub(crate) fn refuse_label(&mut self, label: Label) {
        self.labels.insert(label);
    }

    /// Records the id of a new session of the file, so that no other new session gets it.
    pub(crate) fn add(&mut self, id: SessionId) {
        self.made.insert(id);
    }

    /// Forgets the ids of the file's new sessions, because the next attempt imports the file again.
    /// Does not forget ids and labels that the store refused.
    pub(crate) fn start_again(&mut self) {
        self.made.clear();
    }

    /// Returns an unused id for a file's first session. It is the native id (the agent's own
    /// session id) if that is valid and unused, or else the first unused id derived from it
    /// (docs/semantics.md, Sources).
    pub(crate) fn file_id(
        &self,
        store: &dyn Store,
        dialect: &str,
        native: &str,
    ) -> Result<SessionId> {
        for attempt in 0..ATTEMPTS {
            if let Some(id) = session_id(dialect, native, attempt)
                && self.is_free(store, &id)?
            {
                return Ok(id);
            }
        }
        Err(Error::invalid("native_id", "no id made of the file's is free"))
    }

    /// Returns an unused id for a branch in a file. The id is derived from `file`, the id of the
    /// file's first session, and from `first`, which identifies the branch's first record.
    pub(crate) fn fork_id(
        &self,
        store: &dyn Store,
        dialect: &str,
        file: &SessionId,
        first: &str,
    ) -> Result<SessionId> {
        for attempt in 0..ATTEMPTS {
            let number = attempt.to_string();
            let parts = [file.as_str(), first, &number];
            let parts = parts.get(..if attempt == 0 { 2 } else { 3 }).unwrap_or(&parts);
            if let Ok(id) = SessionId::derived(dialect, parts)
                && self.is_free(store, &id)?
            {
                return Ok(id);
            }
        }
        Err(Error::invalid("native_id", "no id made of the record's is free"))
    }

    pub(crate) fn label(&self, id: &SessionId) -> Label {
        let labels = (0..26).map(|attempt| Label::of_fork(id, attempt));
        labels
            .into_iter()
            .find(|label| !self.labels.contains(label))
            .unwrap_or_else(|| Label::of_fork(id, 26))
    }

    /// Returns the label for the first session of a rewritten file: `revision-N` with N =
    /// `revision`. If the store refused it, returns a label derived from `id`.
    pub(crate) fn revision_label(&self, revision: u64, id: &SessionId) -> Label {
        let label = format!("revision-{revision}").parse().ok();
        label.filter(|label| !self.labels.contains(label)).unwrap_or_else(|| self.label(id))
    }

    fn is_free(&self, store: &dyn Store, id: &SessionId) -> Result<bool> {
        match store.header(id) {
            _ if self.ids.contains(id) || self.made.contains(id) => Ok(false),
            Ok(_) => Ok(false),
            Err(StoreError::NotFound(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}
