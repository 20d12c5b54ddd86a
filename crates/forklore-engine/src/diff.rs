//! `diff`: finds where two histories part, and the conversation events that only one of them has.

mod stats;

use std::collections::HashSet;

use forklore_api::{Ancestor, Difference};
use forklore_core::{ErrorKind, Origin, SessionId, diff};
use forklore_store::Error as StoreError;
use forklore_store::port::At;

use crate::{Engine, Error, Replay, Result};

impl Engine {
    /// Compares the histories of two sessions, of the same family or of different ones. Use
    /// [`Engine::compare`] if the differing events may not fit in memory.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn diff(&self, a: &SessionId, b: &SessionId) -> Result<Difference> {
        let Difference { ancestor, common, only_a, only_b } = self.compare(a, b)?;
        let (only_a, only_b) = (only_a.collect::<Result<_>>()?, only_b.collect::<Result<_>>()?);
        Ok(Difference { ancestor, common, only_a, only_b })
    }

    /// Compares the histories of two sessions, and returns the records that differ as iterators.
    /// Each iterator reads its records one after another from the store, so the memory use is
    /// constant. The common part is not read, so the time does not depend on its length.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Create, Engine, Fork, NewEvent};
    /// # use forklore_core::workspace::Workspace;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// # let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
    /// engine.append(&main, &NewEvent::user("plan A or plan B?")?.into())?;
    /// let fork = engine.fork(&Fork::of(main.clone()))?.child_session_id;
    /// engine.append(&fork, &NewEvent::assistant("plan B")?.into())?;
    ///
    /// let compared = engine.compare(&main, &fork)?;
    /// assert_eq!((compared.common, compared.only_a.left(), compared.only_b.left()), (1, 0, 1));
    /// for record in compared.only_b {
    ///     println!("{:?}", record?.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing. Each record of an iterator may
    /// fail with `corrupt` or `missing_ancestor`.
    pub fn compare(&self, a: &SessionId, b: &SessionId) -> Result<Difference<Replay>> {
        let (a, b) = (self.show(a)?, self.show(b)?);
        let (end_a, end_b) = (a.counts.index, b.counts.index);
        let common = diff::common(end_a.min(end_b), |index| {
            Ok::<_, crate::Error>(self.origin(&a.id, index)? == self.origin(&b.id, index)?)
        })?;
        let ancestor = match common.checked_sub(1) {
            None => None,
            Some(index) => {
                let Origin { session_id, seq } = self.origin(&a.id, index)?;
                Some(Ancestor { session_id, index, seq })
            }
        };
        Ok(Difference {
            ancestor,
            common,
            only_a: self.replay_from(&a, common, end_a),
            only_b: self.replay_from(&b, common, end_b),
        })
    }

    /// Returns the session and the seq at which the conversation event with this index was first
    /// written. If that session is a copy (its beginning repeats another session, the original) and
    /// the event is in the repeated part, returns the session and seq in the original. The event
    /// must exist.
    fn origin(&self, session: &SessionId, index: u64) -> Result<Origin> {
        let mut origin = self.written(session, index)?;
        let mut seen = HashSet::new();
        while let Some(original) = self.original_at(&origin.session_id, index)?
            && seen.insert(origin.session_id.clone())
        {
            match self.written(&original, index) {
                Ok(found) => origin = found,
                // The original was deleted or lost, but the copy was not.
                Err(Error::Store(StoreError::Lost { .. })) => break,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        Ok(origin)
    }

    /// If `session` is a copy, returns its original: the session whose beginning the copy repeats.
    /// Returns `None` if `session` is not a copy, or if the repeated part ends before the
    /// conversation event at this index.
    fn original_at(&self, session: &SessionId, index: u64) -> Result<Option<SessionId>> {
        // A session whose header is gone cannot be a copy.
        let copy_of = self.other_session(session)?.header().and_then(|header| header.copy_of);
        let repeats = copy_of.filter(|copy_of| index < copy_of.index);
        Ok(repeats.map(|copy_of| copy_of.session_id))
    }

    /// Returns the session in whose log the conversation event at this index was first written, and
    /// the seq there. Follows forks, but not copies: for a copy of another session, returns the
    /// copy.
    fn written(&self, session: &SessionId, index: u64) -> Result<Origin> {
        let found = self.event_at(session, At::Index(index))?;
        let missing = || StoreError::MissingAncestor {
            session: session.clone(),
            missing: format!("the event at index {index}"),
        };
        Ok(found.ok_or_else(missing)?.origin)
    }
}
