//! `branches`: a family's continuations by label (SPEC 7).

use forklore_core::{Cut, Label, SessionId, SessionKind};
use forklore_store::port::{Filter, Headers, Problem};
use serde::Serialize;

use crate::list::problems;
use crate::{Engine, Result};

/// The branches of a family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branches {
    /// The family.
    pub root_session_id: SessionId,
    /// The root and its branches, in the order of the tree; delegates are not among them.
    pub branches: Vec<Branch>,
    /// Those whose header cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// One continuation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// Its label.
    pub label: Label,
    /// The session.
    pub session_id: SessionId,
    /// What it continues.
    pub parent_session_id: Option<SessionId>,
    /// From where.
    pub cut: Option<Cut>,
    /// Its last log position.
    pub head_seq: i64,
    /// Its conversation events.
    pub head_index: u64,
    /// The events it wrote itself.
    pub own_events: u64,
}

impl Engine {
    /// The branches of the family of a session (SPEC 7).
    ///
    /// # Errors
    /// `not_found`.
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
            });
        let problems = problems(&damaged);
        Ok(Branches { branches: branches.collect(), root_session_id: root, problems })
    }
}
