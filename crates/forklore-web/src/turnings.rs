//! Finds where other branches leave the history of a session.

use std::collections::{BTreeMap, HashMap};

use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_engine::Engine;
use forklore_store::port::Filter;
use jiff::Timestamp;

use crate::answer::Answer;
use crate::fate::{Fate, Fates};

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
    /// What became of it in the file from which it was imported.
    pub(crate) fate: Option<Fate>,
    order: Order,
}

/// The order of the branches: first the one that has the part above, then by the time at which they
/// began.
type Order = (u64, Timestamp, SessionId);

fn order(header: &Header) -> Order {
    (header.depth, header.created, header.id.clone())
}

/// The branches that leave the history at one position, in an order that is the same in each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turning {
    pub(crate) branches: Vec<Branch>,
    /// The order of the branch to which the session itself belongs here.
    own: Order,
}

impl Turning {
    /// Returns how many branches come before the one that the session follows.
    pub(crate) fn before(&self) -> usize {
        self.branches.iter().take_while(|it| it.order < self.own).count()
    }

    /// Returns the branches around the one that the session follows, as many as a page lists.
    pub(crate) fn listed(&self) -> &[Branch] {
        let from = self.before().saturating_sub(LISTED / 2);
        let from = from.min(self.branches.len().saturating_sub(LISTED));
        let to = self.branches.len().min(from + LISTED);
        self.branches.get(from..to).unwrap_or_default()
    }
}

/// The positions at which the history of a session divides. The key is the number of inheritable
/// events before that position.
pub(crate) type Turnings = BTreeMap<u64, Turning>;

/// Finds the positions at which the history of a session divides, within a range of positions.
pub(crate) fn read(engine: &Engine, header: &Header, from: u64, to: u64) -> Answer<Turnings> {
    let mut found = Turnings::new();
    let mut seen = Vec::new();
    let (mut session, mut shared) = (header.clone(), u64::MAX);
    let mut below: Option<(Order, u64)> = None;
    for _ in 0..ANCESTORS {
        // At a cut of another branch, the history goes on in this session, not in the one below it.
        let own = order(&session);
        let kinds = vec![SessionKind::Branch];
        let filter = Filter { parent: Some(session.id.clone()), kinds, ..Filter::default() };
        for child in engine.store().sessions(&filter, None, CHILDREN)?.sound {
            let cut = child.inherited.inheritable;
            let is_below = below.as_ref().is_some_and(|(it, _)| it.2 == child.id);
            if !is_below && cut <= shared && (from..=to).contains(&cut) {
                let head = u64::try_from(child.head_seq()).unwrap_or(0);
                let seq = child.seq_of_own(1).min(head);
                let own = match &below {
                    Some((below, at)) if *at == cut => below.clone(),
                    _ => own.clone(),
                };
                add(&mut found, cut, branch(&child, seq), own);
                seen.push(child);
            }
        }
        let parent = session.parent_id.clone().filter(|_| session.kind == SessionKind::Branch);
        let Some(parent) = parent.and_then(|id| engine.show(&id).ok()) else { break };
        seen.push(parent.clone());
        let cut = session.inherited.inheritable;
        let last = session.cut.as_ref().and_then(|cut| cut.seq);
        if cut <= shared && (from..=to).contains(&cut) && parent.counts.inheritable > cut {
            add(&mut found, cut, branch(&parent, last.unwrap_or(0)), own);
        }
        shared = shared.min(cut);
        below = Some((order(&session), cut));
        session = parent;
    }
    seen.push(header.clone());
    let fates = Fates::of(seen.iter());
    let fates: HashMap<_, _> = seen.iter().map(|it| (&it.id, fates.get(it))).collect();
    for turning in found.values_mut() {
        for branch in &mut turning.branches {
            branch.fate = fates.get(&branch.id).copied().flatten();
        }
        turning.branches.sort_by(|a, b| a.order.cmp(&b.order));
    }
    Ok(found)
}

fn branch(header: &Header, seq: u64) -> Branch {
    let (id, label) = (header.id.clone(), header.label.clone());
    Branch { id, label, seq, fate: None, order: order(header) }
}

fn add(found: &mut Turnings, cut: u64, branch: Branch, own: Order) {
    let turning = found.entry(cut).or_insert_with(|| Turning { branches: Vec::new(), own });
    turning.branches.push(branch);
}
