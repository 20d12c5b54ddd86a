//! The sessions of a family, to find those whose history contains an event.
//!
//! A child inherits the first events of its parent's history, up to its cut. To find out whether a
//! descendant's history contains an event, follow its parent links up to the session that wrote the
//! event. Each session on this path, except the writer, must be a branch that inherits the event. A
//! branch inherits the event if it inherits at least as many events as there are inheritable events
//! up to the event.

use std::collections::{HashMap, HashSet};

use forklore_api::HitBranch;
use forklore_core::{Label, SessionId};
use forklore_index::{Fault, Result};
use rusqlite::Connection;

use crate::sessions::id;

/// The largest number of sessions that a hit lists.
const LISTED: usize = 20;

/// The sessions of a family.
#[derive(Debug, Default)]
pub(crate) struct Family {
    members: HashMap<i64, Member>,
    children: HashMap<i64, Vec<i64>>,
}

#[derive(Debug)]
struct Member {
    id: SessionId,
    label: Label,
    is_deleted: bool,
    is_branch: bool,
    inherits: u64,
    parent: Option<String>,
}

impl Family {
    /// Reads the family with the root `root`.
    pub(crate) fn of(conn: &Connection, root: &str) -> Result<Self> {
        let sql = "SELECT number, id, label, deleted, is_branch, inherits, parent FROM session
            WHERE root = ? ORDER BY number";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([root])?;
        let (mut family, mut numbers) = (Self::default(), Vec::new());
        while let Some(row) = rows.next()? {
            let label = row.get::<_, String>(2)?.parse();
            let member = Member {
                id: id(&row.get::<_, String>(1)?)?,
                label: label.map_err(|_| Fault::Damaged("a session has an impossible label"))?,
                is_deleted: row.get(3)?,
                is_branch: row.get(4)?,
                inherits: row.get::<_, i64>(5)?.unsigned_abs(),
                parent: row.get(6)?,
            };
            let number = row.get(0)?;
            numbers.push((member.id.to_string(), number));
            family.members.insert(number, member);
        }
        let by_id: HashMap<_, _> = numbers.iter().map(|(id, number)| (&**id, *number)).collect();
        for (_, number) in &numbers {
            let parent = family.members.get(number).and_then(|member| member.parent.as_deref());
            if let Some(parent) = parent.and_then(|parent| by_id.get(parent)) {
                family.children.entry(*parent).or_default().push(*number);
            }
        }
        Ok(family)
    }

    /// Calls `see` with each session that is not deleted and whose history contains an event. The
    /// session that wrote the event comes first, unless it was deleted. `ordinal` is the number of
    /// inheritable events up to the event.
    fn visit<'a>(&'a self, writer: i64, ordinal: u64, mut see: impl FnMut(&'a Member)) {
        let mut waiting = std::collections::VecDeque::from([writer]);
        let mut seen = HashSet::from([writer]);
        while let Some(number) = waiting.pop_front() {
            if let Some(member) = self.members.get(&number).filter(|member| !member.is_deleted) {
                see(member);
            }
            for child in self.children.get(&number).into_iter().flatten() {
                let inherits = |member: &Member| member.is_branch && member.inherits >= ordinal;
                if self.members.get(child).is_some_and(inherits) && seen.insert(*child) {
                    waiting.push_back(*child);
                }
            }
        }
    }

    /// Returns at most 20 of the sessions whose history contains an event, and the number of all
    /// such sessions.
    pub(crate) fn branches(&self, writer: i64, ordinal: u64) -> (Vec<HitBranch>, u64) {
        let (mut listed, mut count) = (Vec::new(), 0);
        self.visit(writer, ordinal, |member| {
            if listed.len() < LISTED {
                let (session_id, label) = (member.id.clone(), member.label.clone());
                listed.push(HitBranch { session_id, label });
            }
            count += 1;
        });
        (listed, count)
    }

    /// Returns the session that inherits most of the history of the deleted session `writer` and is
    /// not deleted itself. Also returns how many events of that history the returned session
    /// inherits. Returns `None` if no branch below `writer` is left.
    pub(crate) fn heir(&self, writer: i64) -> Option<(SessionId, u64)> {
        let mut best: Option<(SessionId, u64)> = None;
        let mut waiting = vec![(writer, u64::MAX)];
        let mut seen = HashSet::from([writer]);
        while let Some((number, limit)) = waiting.pop() {
            for child in self.children.get(&number).into_iter().flatten() {
                let Some(member) = self.members.get(child).filter(|member| member.is_branch) else {
                    continue;
                };
                let limit = limit.min(member.inherits);
                if !seen.insert(*child) {
                    continue;
                }
                if !member.is_deleted && best.as_ref().is_none_or(|(_, most)| *most < limit) {
                    best = Some((member.id.clone(), limit));
                }
                waiting.push((*child, limit));
            }
        }
        best
    }
}
