//! The order in which sessions are created in another store.

use std::collections::HashSet;

use forklore_core::SessionId;

/// Sorts sessions so that each comes after the sessions that it needs: its parent, and the session
/// before it in the same imported file. Retains the given order otherwise. Uses a stack instead of
/// recursion, so a family may have any depth. Sessions in a cycle have no particular order.
pub(crate) fn in_lineage_order(
    ids: Vec<SessionId>,
    needs: impl Fn(&SessionId) -> Vec<SessionId>,
) -> Vec<SessionId> {
    let (mut met, mut done) = (HashSet::new(), HashSet::new());
    let mut sorted = Vec::with_capacity(ids.len());
    for id in ids {
        let mut stack = vec![id];
        while let Some(id) = stack.last().cloned() {
            // A session on top of the stack for the second time needs no other session any more,
            // or is part of a cycle.
            let needs = if met.insert(id.clone()) { needs(&id) } else { Vec::new() };
            let open: Vec<_> = needs.into_iter().filter(|id| !met.contains(id)).collect();
            if open.is_empty() {
                stack.pop();
                if done.insert(id.clone()) {
                    sorted.push(id);
                }
            } else {
                stack.extend(open);
            }
        }
    }
    sorted
}
