//! Who takes part in a turn: the session that people talk to, and its sub-agents.

use std::collections::HashSet;

use forklore_agent::notify::{KernelEvent, Notification};
use forklore_core::{SessionId, SessionKind};

/// The sessions whose notifications belong to a turn.
pub(crate) struct Cast(HashSet<SessionId>);

impl Cast {
    pub(crate) fn of(session: SessionId) -> Self {
        Self(HashSet::from([session]))
    }

    /// Checks whether a notification of the kernel belongs to the turn. Adds the sub-agents that it
    /// names.
    pub(crate) fn has(&mut self, notification: &Notification) -> bool {
        let from = &notification.session_id;
        let has = |session: &SessionId| self.0.contains(session);
        match &notification.event {
            KernelEvent::SessionFork(forked)
                if forked.kind == SessionKind::Delegate
                    && forked.parent.as_ref().is_some_and(has) =>
            {
                self.0.insert(from.clone());
            }
            KernelEvent::DelegateSpawned(it) | KernelEvent::DelegateResumed(it) if has(from) => {
                self.0.insert(it.sub_session_id.clone());
            }
            _ => {}
        }
        self.0.contains(from)
    }
}
