//! Finds forks in which nothing happened yet, so that a tree of many shows the others.

use std::collections::HashMap;

use forklore::core::{SessionId, SessionKind};
use forklore::engine::TreeNode;

/// The number of empty forks of one session up to which all are shown.
const MOST_EMPTY: usize = 5;

/// How a node of a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Itself,
    Nothing,
    /// In place of this many empty forks.
    Folded(usize),
}

/// Returns how each node is shown. `nodes` are in pre-order. The empty forks of a session are folded
/// into the last one of them, if there are many. The session `current` is always shown.
pub(super) fn folded(nodes: &[TreeNode], current: Option<&SessionId>) -> Vec<Shown> {
    let mut shown = vec![Shown::Itself; nodes.len()];
    for forks in empty_forks(nodes, current).into_values() {
        let Some((last, others)) = forks.split_last().filter(|_| forks.len() > MOST_EMPTY) else {
            continue;
        };
        for at in others {
            set(&mut shown, *at, Shown::Nothing);
        }
        set(&mut shown, *last, Shown::Folded(forks.len()));
    }
    shown
}

fn set(shown: &mut [Shown], at: usize, how: Shown) {
    if let Some(shown) = shown.get_mut(at) {
        *shown = how;
    }
}

/// Returns the indexes of the empty forks, by the index of their parent.
fn empty_forks(
    nodes: &[TreeNode],
    current: Option<&SessionId>,
) -> HashMap<Option<usize>, Vec<usize>> {
    let mut forks: HashMap<_, Vec<usize>> = HashMap::new();
    let mut path = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        path.truncate(node.depth);
        let has_children = nodes.get(at + 1).is_some_and(|next| next.depth > node.depth);
        if is_empty(node) && !has_children && current != Some(&node.session_id) {
            forks.entry(path.last().copied()).or_default().push(at);
        }
        path.push(at);
    }
    forks
}

/// Checks whether nothing but the record of its fork was written in a branch.
fn is_empty(node: &TreeNode) -> bool {
    let is_plain = !node.deleted && !node.missing && !node.damaged && !node.cycle;
    node.header.as_ref().is_some_and(|header| {
        let is_fork = header.kind == SessionKind::Branch && header.parent.is_some();
        is_plain && is_fork && !header.running && header.title.is_none() && header.own_events <= 1
    })
}
