//! Finds where other branches leave the history of a session.

use std::collections::BTreeMap;

use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_engine::Engine;
use forklore_store::port::Filter;

use crate::answer::Answer;

/// The largest number of children that are looked at for each session of the lineage.
const CHILDREN: usize = 500;
/// The largest number of ancestors whose children are looked at.
const ANCESTORS: usize = 12;
/// The largest number of branches that are listed where the history divides.
const LISTED: usize = 8;

/// Another branch that leaves the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) id: SessionId,
    pub(crate) label: Label,
    /// The log position in that branch at which it goes on.
    pub(crate) seq: u64,
}

/// The branches that leave the history at one position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turning {
    pub(crate) branches: Vec<Branch>,
    /// The number of further branches.
    pub(crate) more: usize,
}

/// The positions at which the history of a session divides. The key is the number of inheritable
/// events before that position.
pub(crate) type Turnings = BTreeMap<u64, Turning>;

/// Finds the positions at which the history of a session divides, within a range of positions.
pub(crate) fn read(engine: &Engine, header: &Header, from: u64, to: u64) -> Answer<Turnings> {
    let mut found = Turnings::new();
    let (mut session, mut shared, mut below) = (header.clone(), u64::MAX, header.id.clone());
    for _ in 0..ANCESTORS {
        let kinds = vec![SessionKind::Branch];
        let filter = Filter { parent: Some(session.id.clone()), kinds, ..Filter::default() };
        for child in engine.store().sessions(&filter, None, CHILDREN)?.sound {
            let cut = child.inherited.inheritable;
            if child.id != below && cut <= shared && (from..=to).contains(&cut) {
                let head = u64::try_from(child.head_seq()).unwrap_or(0);
                add(&mut found, cut, &child, child.seq_of_own(1).min(head));
            }
        }
        let parent = session.parent_id.clone().filter(|_| session.kind == SessionKind::Branch);
        let Some(parent) = parent.and_then(|id| engine.show(&id).ok()) else { break };
        let cut = session.inherited.inheritable;
        let last = session.cut.as_ref().and_then(|cut| cut.seq);
        if cut <= shared && (from..=to).contains(&cut) && parent.counts.inheritable > cut {
            add(&mut found, cut, &parent, last.unwrap_or(0));
        }
        shared = shared.min(cut);
        below = session.id;
        session = parent;
    }
    Ok(found)
}

fn add(found: &mut Turnings, cut: u64, header: &Header, seq: u64) {
    let turning = found.entry(cut).or_default();
    if turning.branches.len() < LISTED {
        let (id, label) = (header.id.clone(), header.label.clone());
        turning.branches.push(Branch { id, label, seq });
    } else {
        turning.more += 1;
    }
}
