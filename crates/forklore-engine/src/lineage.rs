//! `lineage`: returns the ancestors and the children of a session.

use std::collections::HashSet;

use forklore_api::{Lineage, Relative};
use forklore_core::{Header, SessionId};
use forklore_store::port::{Filter, Headers};

use crate::list::problems;
use crate::other_session::OtherSession;
use crate::{Engine, Error, Result};

impl Engine {
    /// Returns the ancestors and the children of a session. The ancestors are ordered from the
    /// parent to the root, the children by the position of their cut and then by creation time.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted; `lineage_cycle` if the parent
    /// links form a cycle.
    pub fn lineage(&self, session: &SessionId) -> Result<Lineage> {
        let header = self.show(session)?;
        let ancestors = self.ancestors(&header)?;
        let filter = Filter { parent: Some(session.clone()), deleted: true, ..Filter::default() };
        let Headers { sound: mut children, damaged } = self.store.sessions(&filter, None, 0)?;
        children.sort_by_key(|child| {
            (child.cut.as_ref().map_or(0, |cut| cut.inheritable), child.created, child.id.clone())
        });
        Ok(Lineage {
            session_id: header.id,
            root_session_id: header.root_id,
            depth: header.depth,
            ancestors,
            children: children.iter().map(|child| self.relative(child)).collect(),
            next: None,
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
            // Above a session that is missing or damaged, the ancestors are unknown.
            match self.other_session(&id)? {
                OtherSession::There(ancestor) => {
                    ancestors.push(self.relative(&ancestor));
                    next = ancestor.parent_id;
                }
                OtherSession::Missing => ancestors.push(Relative { missing: true, ..unread(id) }),
                OtherSession::Damaged => ancestors.push(Relative { damaged: true, ..unread(id) }),
            }
        }
        Ok(ancestors)
    }

    fn relative(&self, header: &Header) -> Relative {
        Relative {
            label: Some(header.label.clone()),
            kind: Some(header.kind),
            cut: header.cut.clone(),
            summary: self.has_summary(header),
            running: self.is_leased(header),
            deleted: header.deleted.is_some(),
            ..unread(header.id.clone())
        }
    }
}

/// Builds the entry of an ancestor whose header could not be read. Only its id is known.
fn unread(session_id: SessionId) -> Relative {
    Relative {
        session_id,
        label: None,
        kind: None,
        cut: None,
        summary: false,
        running: false,
        deleted: false,
        missing: false,
        damaged: false,
    }
}
