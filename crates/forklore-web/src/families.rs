//! Remembers families between requests, so that a page of a large family costs what it shows and what
//! has changed, not what the family has.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_core::tree::{Placed, arrange};
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_store::port::{Filter, Mark, Since};

use crate::answer::Answer;

/// The largest number of sessions that are remembered, in all families together.
const SESSIONS: usize = 50_000;
/// The largest number of changes that are read. After more, the family is read again.
const CHANGES: usize = 1_000;

/// The families that were shown last.
#[derive(Default)]
pub(crate) struct Families(Mutex<Vec<(SessionId, Slot)>>);

type Slot = Arc<Mutex<Option<Remembered>>>;

struct Remembered {
    mark: Mark,
    tree: Arc<Tree>,
}

/// A family as of one moment: its sessions in pre-order.
pub(crate) struct Tree {
    headers: Vec<Header>,
    pub(crate) rows: Vec<Placed>,
    /// The sessions that cannot be read.
    pub(crate) damaged: Vec<SessionId>,
    /// The number of problems, also those that name no session.
    pub(crate) problems: usize,
}

impl Tree {
    /// The header of a row; `None` if the session is missing or cannot be read.
    pub(crate) fn header(&self, row: &Placed) -> Option<&Header> {
        row.at.and_then(|at| self.headers.get(at))
    }

    fn of(headers: Vec<Header>, damaged: Vec<SessionId>, problems: usize) -> Self {
        let rows = without_dead_ends(&headers, arrange(&headers));
        Self { headers, rows, damaged, problems }
    }
}

impl Families {
    /// Returns the family with this root. Several callers at once wait for the first.
    pub(crate) fn read(&self, engine: &Engine, root: &SessionId) -> Answer<Arc<Tree>> {
        let slot = self.slot(root);
        let mut last = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = match last.take() {
            Some(remembered) => renewed(engine, root, remembered)?,
            None => None,
        };
        let remembered = match remembered {
            Some(remembered) => remembered,
            None => whole(engine, root)?,
        };
        let tree = Arc::clone(&remembered.tree);
        // What is damaged may be repaired without a change of the feed.
        *last = Some(remembered).filter(|_| tree.problems == 0);
        drop(last);
        self.forget_the_oldest();
        Ok(tree)
    }

    /// Returns the memory of a family, and makes it the newest.
    fn slot(&self, root: &SessionId) -> Slot {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(other, _)| other == root);
        let slot = at.map_or_else(Arc::default, |at| all.remove(at).1);
        all.push((root.clone(), Arc::clone(&slot)));
        slot
    }

    fn forget_the_oldest(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sessions = 0;
        let oldest = all.iter().rposition(|(_, slot)| {
            // Another request is reading it.
            let Ok(slot) = slot.try_lock() else { return false };
            // An empty family costs something too.
            sessions += 100 + slot.as_ref().map_or(0, |last| last.tree.headers.len());
            sessions > SESSIONS
        });
        // The newest is not forgotten, however large it is.
        let newest = all.len().saturating_sub(1);
        all.drain(..oldest.map_or(0, |at| (at + 1).min(newest)));
    }
}

/// Reads a family whole.
fn whole(engine: &Engine, root: &SessionId) -> Answer<Remembered> {
    // The mark is older than the sessions, so no change between the two reads is missed.
    let mark = engine.store().changes(&Since::Now, 1, Duration::ZERO)?.mark;
    let filter = Filter { family: Some(root.clone()), deleted: true, ..Filter::default() };
    let found = engine.store().sessions(&filter, None, 0)?;
    let damaged = found.damaged.iter().filter_map(|error| error.problem(None).session_id);
    let tree = Tree::of(found.sound, damaged.collect(), found.damaged.len());
    Ok(Remembered { mark, tree: Arc::new(tree) })
}

/// Reads what has changed in a family. `None` if that is better done by reading it whole.
fn renewed(engine: &Engine, root: &SessionId, last: Remembered) -> Answer<Option<Remembered>> {
    let since = Since::Mark(last.mark);
    // A mark may have expired.
    let Ok(changes) = engine.store().changes(&since, CHANGES, Duration::ZERO) else {
        return Ok(None);
    };
    if changes.more {
        return Ok(None);
    }
    let mark = changes.mark;
    let members: HashSet<_> = last.tree.headers.iter().map(|header| &header.id).collect();
    // Whether a new session belongs to the family, only its header says.
    let ids: Vec<_> = changes
        .sessions
        .into_iter()
        .filter(|change| change.created || members.contains(&change.session))
        .map(|change| change.session)
        .collect();
    if ids.is_empty() {
        return Ok(Some(Remembered { mark, tree: last.tree }));
    }
    let mut fresh = HashMap::new();
    for (id, header) in ids.iter().zip(engine.store().headers(&ids)?) {
        match header {
            Ok(header) if header.root_id == *root => {
                fresh.insert(id.clone(), header);
            }
            Ok(_) => {}
            // It was erased, for example.
            Err(_) => return Ok(None),
        }
    }
    let unchanged = last.tree.headers.iter().filter(|header| !fresh.contains_key(&header.id));
    let mut headers: Vec<_> = unchanged.cloned().collect();
    headers.extend(fresh.into_values());
    // The order in which a store lists them.
    headers.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
    Ok(Some(Remembered { mark, tree: Arc::new(Tree::of(headers, Vec::new(), 0)) }))
}

/// Removes each deleted session that has only deleted descendants.
fn without_dead_ends(headers: &[Header], rows: Vec<Placed>) -> Vec<Placed> {
    let mut needed_above = 0;
    let mut shown = Vec::with_capacity(rows.len());
    // In a pre-order read backwards, a row that stays and is deeper is a descendant.
    for row in rows.into_iter().rev() {
        let header = row.at.and_then(|at| headers.get(at));
        let is_alive = header.is_none_or(|header| header.deleted.is_none());
        if is_alive || needed_above > row.depth {
            needed_above = row.depth;
            shown.push(row);
        }
    }
    shown.reverse();
    shown
}
