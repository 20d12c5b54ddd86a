//! Sums the usage of forklore's own model calls, for budgets.

use std::collections::HashSet;

use forklore_core::{EventType, SessionId, SessionKind, Usage, payload};
use forklore_store::port::{At, Filter};
use jiff::Timestamp;

use crate::{Engine, Result};

impl Engine {
    /// Sums the usage of forklore's own model calls since `since`, inclusive, in all sessions that
    /// were not deleted. Calls that other agents made in imported sessions do not count.
    ///
    /// # Errors
    /// An error of the store, or `corrupt` if a session cannot be read.
    pub fn usage_since(&self, since: Timestamp) -> Result<Usage> {
        let filter = Filter { since: Some(since), ..Filter::default() };
        let mut sum = Usage::default();
        for header in self.store().sessions(&filter, None, 0)?.sound {
            if header.usage == Usage::default() {
                continue;
            }
            let first = header.seq_of_own(u64::from(header.parent_id.is_some()));
            for stored in self.events(&header.id, At::Seq(first)) {
                let event = stored?.event;
                let is_usage = event.kind == EventType::PROVIDER_USAGE && event.dialect.is_none();
                if is_usage && event.ts >= since {
                    sum += payload::usage(&event.data);
                }
            }
        }
        Ok(sum)
    }

    /// Sums the usage in the headers of a session and of its sub-agents at any depth. Returns no
    /// usage if the session does not exist (yet) or was deleted.
    ///
    /// # Errors
    /// An error of the store.
    pub fn usage_with_subagents(&self, session: &SessionId) -> Result<Usage> {
        let header = match self.show(session) {
            Ok(header) => header,
            Err(error) if error.kind() == forklore_core::ErrorKind::NotFound => {
                return Ok(Usage::default());
            }
            Err(error) => return Err(error),
        };
        let kinds = vec![SessionKind::Delegate];
        let filter = Filter { family: Some(header.root_id.clone()), kinds, ..Filter::default() };
        let mut delegates = self.store().sessions(&filter, None, 0)?.sound;
        let mut sum = header.usage;
        let mut counted = HashSet::from([header.id]);
        loop {
            let before = counted.len();
            delegates.retain(|delegate| {
                let parent = delegate.parent_id.as_ref();
                let is_below = parent.is_some_and(|parent| counted.contains(parent));
                if is_below {
                    sum += delegate.usage;
                    counted.insert(delegate.id.clone());
                }
                !is_below
            });
            if counted.len() == before {
                return Ok(sum);
            }
        }
    }
}
