//! Arranges sessions as trees, without recursion, whatever the shape of the trees
//! (docs/semantics.md, Reading).

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::header::Header;
use crate::id::SessionId;

/// One node of a tree of sessions. [`arrange`] lists the nodes in pre-order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The index of the session in the slice passed to [`arrange`]; `None` for a parent that is not
    /// in the slice.
    pub at: Option<usize>,
    /// The session's id.
    pub id: SessionId,
    /// The number of parent links between the node and the root of its tree; 0 for the root.
    pub depth: usize,
    /// The problem with the node, if any: its session is missing from the slice, or its parent
    /// links lead into a cycle.
    pub mark: Option<Mark>,
}

/// A problem with a node of a tree of sessions, found when the sessions are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The session is the parent of a session in the list to arrange, but is not in that list
    /// itself.
    Missing,
    /// The session's parent links lead into a cycle. Only the first such session found is marked;
    /// it becomes the root of its tree.
    Cycle,
}

/// Arranges sessions as trees in pre-order; siblings are sorted by cut, creation time and id.
///
/// Every session given appears exactly once. A parent that is not among the sessions gets a node of
/// its own, marked [`Mark::Missing`]. If parent links lead into a cycle, the first session found
/// becomes the root of its tree, marked [`Mark::Cycle`].
#[must_use]
pub fn arrange(sessions: &[Header]) -> Vec<Placed> {
    let depths: HashMap<&SessionId, usize> =
        sessions.iter().enumerate().map(|(at, header)| (&header.id, at)).collect();
    let mut children: HashMap<&SessionId, Vec<usize>> = HashMap::new();
    let mut roots: Vec<(&SessionId, Option<usize>)> = Vec::new();
    for (at, header) in sessions.iter().enumerate() {
        match &header.parent_id {
            None => roots.push((&header.id, Some(at))),
            Some(parent) => {
                let siblings = children.entry(parent).or_default();
                if siblings.is_empty() && !depths.contains_key(parent) {
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
        // A session that cannot be reached from a root belongs to a cycle, or descends from a
        // session in a cycle.
        if !walk.seen.contains(&header.id) {
            walk.from(&header.id, depths.get(&header.id).copied(), Some(Mark::Cycle));
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
