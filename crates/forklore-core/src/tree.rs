//! A family as a tree: arranged without recursion, whatever its shape (SPEC 7).

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::header::Header;
use crate::id::SessionId;

/// One node in pre-order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which session; the place in the list given, or none for a parent that is missing.
    pub at: Option<usize>,
    /// The session's id.
    pub id: SessionId,
    /// Links below the root of this tree.
    pub depth: usize,
    /// What is wrong with it.
    pub mark: Option<Mark>,
}

/// What is wrong with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Its children name it, but it is not in the store.
    Missing,
    /// Its parent links run in a circle; it stands where the circle was found.
    Cycle,
}

/// Arranges sessions as trees in pre-order; children by cut, time of making, id.
///
/// Every session given appears exactly once. A parent that is not among them gets a node of its
/// own, marked missing; of a circle the first session met is the root, marked.
#[must_use]
pub fn arrange(sessions: &[Header]) -> Vec<Placed> {
    let known: HashMap<&SessionId, usize> =
        sessions.iter().enumerate().map(|(at, header)| (&header.id, at)).collect();
    let mut children: HashMap<&SessionId, Vec<usize>> = HashMap::new();
    let mut roots: Vec<(&SessionId, Option<usize>)> = Vec::new();
    for (at, header) in sessions.iter().enumerate() {
        match &header.parent_id {
            None => roots.push((&header.id, Some(at))),
            Some(parent) => {
                let siblings = children.entry(parent).or_default();
                if siblings.is_empty() && !known.contains_key(parent) {
                    roots.push((parent, None));
                }
                siblings.push(at);
            }
        }
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|at| sessions.get(*at).map(order));
    }
    let mut walk = Walk { sessions, children, seen: HashSet::new(), out: Vec::new() };
    for (id, at) in roots {
        walk.from(id, at, at.is_none().then_some(Mark::Missing));
    }
    for header in sessions {
        // Whatever no root leads to hangs in a circle.
        if !walk.seen.contains(&header.id) {
            walk.from(&header.id, known.get(&header.id).copied(), Some(Mark::Cycle));
        }
    }
    walk.out
}

fn order(header: &Header) -> (u64, Timestamp, &SessionId) {
    (header.cut.as_ref().map_or(0, |cut| cut.inheritable), header.created, &header.id)
}

struct Walk<'a> {
    sessions: &'a [Header],
    children: HashMap<&'a SessionId, Vec<usize>>,
    seen: HashSet<&'a SessionId>,
    out: Vec<Placed>,
}

impl<'a> Walk<'a> {
    fn from(&mut self, id: &'a SessionId, at: Option<usize>, mark: Option<Mark>) {
        let mut stack = vec![(id, at, 0, mark)];
        while let Some((id, at, depth, mark)) = stack.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            self.out.push(Placed { at, id: id.clone(), depth, mark });
            for child in self.children.get(id).into_iter().flatten().rev() {
                if let Some(header) = self.sessions.get(*child) {
                    stack.push((&header.id, Some(*child), depth + 1, None));
                }
            }
        }
    }
}
