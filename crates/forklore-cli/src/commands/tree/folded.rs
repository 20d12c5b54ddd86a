//! Finds forks in which nothing happened yet. If a session has many of them, a tree hides them, so
//! that the other sessions can be seen.

use std::collections::HashMap;

use forklore::core::{SessionId, SessionKind};
use forklore::engine::TreeNode;

/// The maximum number of empty forks of one session that a tree shows. If there are more, one line
/// replaces all of them.
const MOST_EMPTY: usize = 5;

/// How a node of a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Itself,
    Nothing,
    /// As one line that replaces this number of empty forks.
    Folded(usize),
}

/// Returns how each node is shown. `nodes` are in pre-order. If a session has many empty forks, the
/// last of them is shown as [`Shown::Folded`] and the others are not shown. The session `current`
/// is always shown.
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

/// Returns the indexes in `nodes` of the empty forks, by the index of their parent. The key `None`
/// has those whose parent is not in `nodes`. Leaves out `current` and forks with children.
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

/// Checks whether a node is a branch that has no own event except the record of its fork. Returns
/// `false` if the branch has a title, is running, or is deleted, missing or damaged.
fn is_empty(node: &TreeNode) -> bool {
    let is_plain = !node.deleted && !node.missing && !node.damaged && !node.cycle;
    node.header.as_ref().is_some_and(|header| {
        let is_fork = header.kind == SessionKind::Branch && header.parent.is_some();
        is_plain && is_fork && !header.running && header.title.is_none() && header.own_events <= 1
    })
}
