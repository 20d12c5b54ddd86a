//! `branches`: returns the branches of a family, each with its label, cut and head.

use forklore_api::{Branch, Branches};
use forklore_core::{SessionId, SessionKind};
use forklore_store::port::{Filter, Headers};

use crate::list::problems;
use crate::{Engine, Result};

impl Engine {
    /// Returns the branches in the family of `session` (all sessions with the same root), including
    /// the root. Leaves out delegates (sub-agent sessions) and deleted sessions.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted.
    pub fn branches(&self, session: &SessionId) -> Result<Branches> {
        let root = self.show(session)?.root_id;
        let filter = Filter { family: Some(root.clone()), deleted: true, ..Filter::default() };
        let Headers { sound: family, damaged } = self.store.sessions(&filter, None, 0)?;
        let placed = forklore_core::tree::arrange(&family);
        let headers = placed.iter().filter_map(|node| family.get(node.at?));
        let branches = headers
            .filter(|header| header.deleted.is_none() && header.kind != SessionKind::Delegate)
            .map(|header| Branch {
                label: header.label.clone(),
                session_id: header.id.clone(),
                parent_session_id: header.parent_id.clone(),
                cut: header.cut.clone(),
                head_seq: header.head_seq(),
                head_index: header.counts.index,
                own_events: header.own_events,
                summary: self.has_summary(header),
                running: self.is_leased(header),
            });
        let problems = problems(&damaged);
        let branches = branches.collect();
        Ok(Branches { root_session_id: root, branches, next: None, problems })
    }
}
