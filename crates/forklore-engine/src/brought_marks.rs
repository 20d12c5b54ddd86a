//! Which sessions of a tree were told what another branch came to (SPEC 7, 8).

use forklore_api::{BroughtMark, TreeNode, Trees};
use forklore_core::EventType;
use forklore_store::port::{At, Direction, Query};

use crate::Engine;
use crate::bring::brought_by;

/// Headers do not say it, so the events of the sessions shown are looked through, without their
/// data: of trees that have no more than these, so that a tree stays quick whatever its size.
const MOST_EVENTS: u64 = 20_000;
/// Events read at a time.
const PAGE: usize = 1_000;

impl Engine {
    /// Adds to each session of the trees of which branches it was told by [`bring`](Self::bring).
    /// Sessions that wrote more than 20,000 events together are not looked through; whether they
    /// were is the answer. Of a session that is damaged, what can be read is told.
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

    /// What the node's own events tell of other branches, as far as they can be read.
    fn marks_of(&self, node: &TreeNode) -> Vec<BroughtMark> {
        let mut told = Vec::new();
        let mut from = first_own(node);
        loop {
            let query =
                Query { at: At::Seq(from), direction: Direction::Forward, limit: PAGE, bare: true };
            // `verify` names what is damaged; here it is only no mark.
            let Ok(page) = self.store().read(&node.session_id, &query) else { return told };
            let Some(last) = page.events.last() else { return told };
            from = last.seq + 1;
            let summaries = page.events.iter().filter(|stored| {
                stored.event.kind == EventType::BRANCH_SUMMARY
                    && stored.origin.session_id == node.session_id
            });
            told.extend(summaries.filter_map(|stored| self.mark_at(node, stored.seq)));
            if !page.more {
                return told;
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
    node.header.as_ref().map_or(0, |known| known.own_events)
}

/// Where the events begin that it wrote behind what it inherits, or one before.
fn first_own(node: &TreeNode) -> u64 {
    let head = node.header.as_ref().map_or(-1, |known| known.head_seq);
    u64::try_from(head + 1).unwrap_or(0).saturating_sub(own(node))
}
