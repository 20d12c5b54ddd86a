//! Session ids and labels that are not free for the new sessions of a file. The file's own sessions
//! have some of them. The store refused the others although they looked free; the next attempt to
//! import the file avoids these.

use std::collections::{HashMap, HashSet};

use forklore_core::agent_format::session_id;
use forklore_core::{Label, SessionId, SessionKind};
use forklore_store::port::Filter;
use forklore_store::{Error as StoreError, Store};

use forklore_engine::{Error, Result};

/// The highest number for which [`NameConflicts::first_free`] derives an id.
const ATTEMPTS: usize = 1 << 30;

/// Session ids and labels that the new sessions of a file must not get.
#[derive(Debug, Default)]
pub(crate) struct NameConflicts {
    ids: HashSet<SessionId>,
    /// The labels that the store refused, and those of a family from which it refused several.
    labels: HashSet<Label>,
    /// The ids of the sessions that this import creates. The store may not contain them yet.
    made: HashSet<SessionId>,
    /// The labels of the sessions that this import creates, by the root of their family.
    given: HashMap<SessionId, HashSet<Label>>,
}

impl NameConflicts {
    /// Records that the store refused this id, because another session has it.
    pub(crate) fn refuse_id(&mut self, id: SessionId) {
        self.ids.insert(id);
    }

    /// Records that the store refused this label, because the session `by` has it. The first time,
    /// nothing else is recorded: most files have few new sessions, and rarely does a second one meet
    /// a label of its family. The second time, records all labels of the family, so that only a race
    /// with another writer can refuse a third one.
    pub(crate) fn refuse_label(
        &mut self,
        store: &dyn Store,
        label: Label,
        by: &SessionId,
    ) -> Result<()> {
        if !self.labels.is_empty() {
            let family = Some(store.header(by)?.root_id);
            let living = store.sessions(&Filter { family, ..Filter::default() }, None, 0)?.sound;
            self.labels.extend(living.into_iter().map(|header| header.label));
        }
        self.labels.insert(label);
        Ok(())
    }

    /// Records the id and the label of a new session of the file, so that no other new session gets
    /// them. `root` is the root of its family.
    pub(crate) fn add(&mut self, root: SessionId, id: SessionId, label: Label) {
        self.made.insert(id);
        self.given.entry(root).or_default().insert(label);
    }

    /// Forgets the file's new sessions, because the next attempt imports the file again. Does not
    /// forget ids and labels that the store refused.
    pub(crate) fn start_again(&mut self) {
        self.made.clear();
        self.given.clear();
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
        let id = |attempt| session_id(dialect, native, attempt);
        let free = self.first_free(store, id)?;
        free.ok_or_else(|| Error::invalid("native_id", "no id made of the file's is free"))
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
        let id = |attempt: usize| {
            let number = attempt.to_string();
            let parts = [file.as_str(), first, &number];
            let parts = parts.get(..if attempt == 0 { 2 } else { 3 }).unwrap_or(&parts);
            SessionId::derived(dialect, parts).ok()
        };
        let free = self.first_free(store, id)?;
        free.ok_or_else(|| Error::invalid("native_id", "no id made of the record's is free"))
    }

    /// Returns the first unused id among `id(0)`, `id(1)`, ... Ids are used in this order and never
    /// become unused again, so the search doubles its steps and then halves them. It examines few
    /// ids even if very many are used. Returns `None` if the search finds no unused id.
    fn first_free(
        &self,
        store: &dyn Store,
        id: impl Fn(usize) -> Option<SessionId>,
    ) -> Result<Option<SessionId>> {
        let free = |attempt| match id(attempt) {
            Some(id) => Ok::<_, Error>(self.is_free(store, &id)?.then_some(id)),
            None => Ok(None),
        };
        let (mut used, mut step) = (None, 1);
        let mut found = loop {
            let attempt = used.map_or(0, |used| used + step);
            if attempt > ATTEMPTS {
                return Ok(None);
            }
            match free(attempt)? {
                Some(id) => break (attempt, id),
                None => (used, step) = (Some(attempt), used.map_or(1, |_| step * 2)),
            }
        };
        while let Some(below) = used.filter(|used| found.0 - used > 1) {
            let middle = below + (found.0 - below) / 2;
            match free(middle)? {
                Some(id) => found = (middle, id),
                None => used = Some(middle),
            }
        }
        Ok(Some(found.1))
    }

    /// Returns the first default label of the new session `id` that no other session of its family
    /// has, as far as this import knows. `root` is the root of the family.
    pub(crate) fn label(&self, kind: SessionKind, root: &SessionId, id: &SessionId) -> Label {
        let mut attempt = 0;
        loop {
            let label = Label::of_child(kind, id, attempt);
            if self.is_free_label(root, &label) {
                return label;
            }
            attempt += 1;
        }
    }

    /// Returns the label for the first session of a rewritten file: `revision-N` with N =
    /// `revision`. If that is not free, returns a default label of `id`.
    pub(crate) fn revision_label(&self, revision: u64, root: &SessionId, id: &SessionId) -> Label {
        let label = format!("revision-{revision}").parse().ok();
        label
            .filter(|label| self.is_free_label(root, label))
            .unwrap_or_else(|| self.label(SessionKind::Branch, root, id))
    }

    fn is_free_label(&self, root: &SessionId, label: &Label) -> bool {
        let given = self.given.get(root).is_some_and(|given| given.contains(label));
        !given && !self.labels.contains(label)
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;

    use forklore_engine::Engine;
    use forklore_store::memory::MemoryStore;

    use super::*;

    #[test]
    fn the_first_unused_id_is_found_in_few_steps() {
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        for used in [0, 1, 2, 3, 7, 8, 9, 100, 5_000] {
            let conflicts = NameConflicts {
                ids: (0..used).map(|n| format!("s{n}").parse().unwrap()).collect(),
                ..NameConflicts::default()
            };
            let tried = RefCell::new(0);
            let id = |attempt: usize| {
                *tried.borrow_mut() += 1;
                format!("s{attempt}").parse().ok()
            };
            let found = conflicts.first_free(engine.store(), id).unwrap().unwrap();
            assert_eq!(found.as_str(), format!("s{used}"));
            assert!(*tried.borrow() <= 30, "{} for {used}", tried.borrow());
        }
    }
}
