//! `lineage`: a session's ancestors and children (SPEC 7).

use std::collections::HashSet;

use forklore_core::{Cut, Header, Label, SessionId, SessionKind};
use forklore_store::port::{Filter, Headers, Problem};
use serde::Serialize;

use crate::list::problems;
use crate::{Engine, Error, Result};

/// Where a session stands in its family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lineage {
    /// The session.
    pub session_id: SessionId,
    /// The family.
    pub root_session_id: SessionId,
    /// Links up to the root.
    pub depth: u64,
    /// The parent first, the root last.
    pub ancestors: Vec<Relative>,
    /// The children, by cut, time of making, id.
    pub children: Vec<Relative>,
    /// Children whose header cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// An ancestor or a child.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relative {
    /// The session.
    pub session_id: SessionId,
    /// Its label, where its header is there.
    pub label: Option<Label>,
    /// How it came to be.
    pub kind: Option<SessionKind>,
    /// Where in its parent it begins.
    pub cut: Option<Cut>,
    /// It was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// It is not in the store.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl Engine {
    /// The ancestors and children of a session (SPEC 7).
    ///
    /// # Errors
    /// `not_found`; `lineage_cycle` when parent links run in a circle.
    pub fn lineage(&self, session: &SessionId) -> Result<Lineage> {
        let header = self.show(session)?;
        let ancestors = self.ancestors(&header)?;
        let filter = Filter { parent: Some(session.clone()), deleted: true, ..Filter::default() };
        let Headers { sound: mut children, damaged } = self.store.sessions(&filter, None, 0)?;
        children.sort_by_key(|child| {
            (child.cut.as_ref().map_or(0, |cut| cut.kept), child.created, child.id.clone())
        });
        Ok(Lineage {
            session_id: header.id,
            root_session_id: header.root_id,
            depth: header.depth,
            ancestors,
            children: children.iter().map(Relative::of).collect(),
            problems: problems(&damaged),
        })
    }

    pub(crate) fn ancestors(&self, header: &Header) -> Result<Vec<Relative>> {
        let mut seen = HashSet::from([header.id.clone()]);
        let mut ancestors = Vec::new();
        let mut next = header.parent_id.clone();
        while let Some(id) = next.take() {
            if !seen.insert(id.clone()) {
                return Err(Error::Cycle(header.id.clone()));
            }
            match self.store.header(&id) {
                Ok(ancestor) => {
                    ancestors.push(Relative::of(&ancestor));
                    next = ancestor.parent_id;
                }
                Err(forklore_store::Error::NotFound(id)) => ancestors.push(Relative::missing(id)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(ancestors)
    }
}

impl Relative {
    fn of(header: &Header) -> Self {
        Self {
            session_id: header.id.clone(),
            label: Some(header.label.clone()),
            kind: Some(header.kind),
            cut: header.cut.clone(),
            deleted: header.deleted.is_some(),
            missing: false,
        }
    }

    fn missing(session_id: SessionId) -> Self {
        Self { session_id, label: None, kind: None, cut: None, deleted: false, missing: true }
    }
}
