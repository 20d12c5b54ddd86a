//! Marks the sessions of a tree in which `bring` recorded summaries of other branches.

use forklore_api::{BroughtMark, TreeNode, Trees};
use forklore_core::EventType;
use forklore_store::port::{At, Direction, Query};

use crate::Engine;
use crate::bring::brought_by;

/// Maximum total number of own (not inherited) events of the sessions that [`Engine::mark_brought`]
/// searches. If the sessions have more events, `mark_brought` searches none of them, which bounds
/// its time for large trees. It reads the events, without their `data`, because headers do not
/// record which branches were brought into a session.
const MOST_EVENTS: u64 = 20_000;
/// Maximum number of events that one read of the store fetches.
const PAGE: usize = 1_000;

impl Engine {
    /// Adds to each session in these session trees the list of branches that [`bring`](Self::bring)
    /// summarized in that session. Returns `false` and adds nothing if the sessions have more than
    /// 20,000 own events in total. For a damaged session, adds only the branches found before the
    /// damage.
    pub fn mark_brought(&self, trees: &mut Trees) -> bool {
        let events: u64 = trees.nodes.iter().filter(|node| is_readable(node)).map(own).sum();
        if events > MOST_EVENTS {
            return false;
        }
        for node in trees.nodes.iter_mut().filter(|node| is_readable(node)) {
            node.brought = self.marks_of(node);
        }
        true
    }

    /// Returns one mark for each branch summary that `bring` recorded in the own events of a tree
    /// node's session. Stops at the first event that cannot be read.
    fn marks_of(&self, node: &TreeNode) -> Vec<BroughtMark> {
        let mut marks = Vec::new();
        let mut from = first_own(node);
        loop {
            let query =
                Query { at: At::Seq(from), direction: Direction::Forward, limit: PAGE, bare: true };
            // Damage only ends this search. `verify` reports the damage.
            let Ok(page) = self.store().read(&node.session_id, &query) else { return marks };
            let Some(last) = page.events.last() else { return marks };
            from = last.seq + 1;
            let summaries = page.events.iter().filter(|stored| {
                stored.event.kind == EventType::BRANCH_SUMMARY
                    && stored.origin.session_id == node.session_id
            });
            marks.extend(summaries.filter_map(|stored| self.mark_at(node, stored.seq)));
            if !page.more {
                return marks;
            }
        }
    }

    fn mark_at(&self, node: &TreeNode, seq: u64) -> Option<BroughtMark> {
        let query =
            Query { at: At::Seq(seq), direction: Direction::Forward, limit: 1, bare: false };
        let page = self.store().read(&node.session_id, &query).ok()?;
        let (label, session_id) = brought_by(&page.events.first()?.event.data)?;
        Some(BroughtMark { seq, session_id, label })
    }
}

fn is_readable(node: &TreeNode) -> bool {
    node.header.is_some() && !node.deleted
}

fn own(node: &TreeNode) -> u64 {
    node.header.as_ref().map_or(0, |found| found.own_events)
}

/// Returns the seq at which a search of the node's own events begins, computed from the counts in
/// its header. For a child session, this is the seq directly after its last inherited event, or
/// after `session_fork` if nothing is inherited.
pub(crate) fn first_own(node: &TreeNode) -> u64 {
    let Some(header) = &node.header else { return 0 };
    let inherited = u64::try_from(header.head_seq + 1).unwrap_or(0).saturating_sub(own(node));
    inherited + u64::from(header.parent.is_some())
}
