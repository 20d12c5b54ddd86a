//! `delete`: sessions go, what others need stays (SPEC 10).

use std::collections::{HashMap, HashSet};

use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::{Children, Filter};
use serde::Serialize;

use crate::{Engine, Result};

/// What a delete does about descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeleteMode {
    /// Branch children that were not detached refuse it.
    #[default]
    Refuse,
    /// They are deleted too, leaves first.
    Cascade,
    /// They keep what they need; nothing is copied.
    DetachChildren,
}

/// A delete to be made.
#[derive(Clone, Debug)]
pub struct Delete {
    /// The session.
    pub session: SessionId,
    /// What happens to its descendants.
    pub mode: DeleteMode,
    /// Only say what would go.
    pub dry_run: bool,
}

/// What a delete came to, or would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// The sessions gone, in the order in which they went.
    pub deleted: Vec<SessionId>,
    /// How many of them left a nameless segment that others need. Not known on a dry run.
    pub kept_segments: u64,
    /// Nothing was to be written.
    pub dry_run: bool,
}

impl Engine {
    /// Deletes a session, with its delegates unless they have branch children (SPEC 10).
    ///
    /// # Errors
    /// `has_children`, `busy`, `not_found`. A cascade that was cut short can be repeated.
    pub fn delete(&self, request: &Delete) -> Result<Deleted> {
        let header = self.show(&request.session)?;
        let filter = Filter { family: Some(header.root_id.clone()), ..Filter::default() };
        // Who builds on whom must be known of each: a damaged header may be a descendant's.
        let family = Family::of(self.store.sessions(&filter, None, 0)?.all()?);
        let cascade = request.mode == DeleteMode::Cascade;
        let set = family.closed_set(&header, cascade);
        if request.dry_run {
            if request.mode == DeleteMode::Refuse {
                family.refuse_branches(&set)?;
            }
            return Ok(Deleted { deleted: set, kept_segments: 0, dry_run: true });
        }
        let children = match request.mode {
            DeleteMode::DetachChildren => Children::Keep,
            DeleteMode::Refuse | DeleteMode::Cascade => Children::Refuse,
        };
        let mut deleted = Deleted { deleted: Vec::new(), kept_segments: 0, dry_run: false };
        // A cascade goes one session at a time: whatever stops it, all that remains loads.
        for step in set.chunks(if cascade { 1 } else { set.len().max(1) }) {
            let removed = self.store.remove(step, children, self.now())?;
            deleted.deleted.extend(removed.deleted);
            deleted.kept_segments += removed.kept_segments;
        }
        Ok(deleted)
    }
}

/// The living sessions of a family by parent.
struct Family {
    children: HashMap<SessionId, Vec<Header>>,
}

impl Family {
    fn of(sessions: Vec<Header>) -> Self {
        let mut children: HashMap<SessionId, Vec<Header>> = HashMap::new();
        for header in sessions {
            if let Some(parent) = header.parent_id.clone() {
                children.entry(parent).or_default().push(header);
            }
        }
        Self { children }
    }

    fn children(&self, id: &SessionId) -> &[Header] {
        self.children.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether `child` reads through its parent: a branch that was not detached.
    fn builds_on_parent(child: &Header) -> bool {
        child.kind == SessionKind::Branch && !child.detached
    }

    /// What goes with `header`, leaves first.
    fn closed_set(&self, header: &Header, cascade: bool) -> Vec<SessionId> {
        let mut set = vec![header.id.clone()];
        let mut seen = HashSet::from([header.id.clone()]);
        let mut stack = vec![header.id.clone()];
        while let Some(id) = stack.pop() {
            for child in self.children(&id) {
                let follows = if child.kind == SessionKind::Delegate {
                    cascade || !self.children(&child.id).iter().any(Self::builds_on_parent)
                } else {
                    cascade && Self::builds_on_parent(child)
                };
                if follows && seen.insert(child.id.clone()) {
                    set.push(child.id.clone());
                    stack.push(child.id.clone());
                }
            }
        }
        // Parents were found before their children.
        set.reverse();
        set
    }

    fn refuse_branches(&self, set: &[SessionId]) -> Result<()> {
        for session in set {
            let outside =
                |child: &&Header| Self::builds_on_parent(child) && !set.contains(&child.id);
            let children: Vec<_> = self.children(session).iter().filter(outside).collect();
            if !children.is_empty() {
                return Err(forklore_store::Error::HasChildren {
                    session: session.clone(),
                    count: children.len(),
                    children: children.into_iter().take(20).map(|c| c.id.clone()).collect(),
                }
                .into());
            }
        }
        Ok(())
    }
}
