//! Trims nameless segments: those of tombstones, and private copies. Erases the events after the
//! last one that a session needs. Sessions in the trash count as well as living ones. When it
//! erases events of a tombstone, it also erases those that forks never inherit.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use rusqlite::Connection;

use crate::ancestry::{self, Ancestry};
use crate::fault::Result;
use crate::integer::signed;
use crate::private_segment::{self, Private};
use crate::segment::{self, Segment};
use crate::session::{self, Session};
use crate::write_tx::WriteTx;

/// The result of a trim: what it erased and what it retained. A trim erases the events of
/// tombstones and of private copies that no session of the family needs. Sessions in the trash
/// count as well as living ones.
#[derive(Debug, Default)]
pub(crate) struct Trimmed {
    /// The segments (groups of stored events) of tombstones, and private copies, from which
    /// sessions still need events.
    pub(crate) retained: Vec<Segment>,
    /// Number of segments that the trim emptied. Each was the segment of a tombstone or a private
    /// copy.
    pub(crate) segments: u64,
    /// Number of events that the trim erased.
    pub(crate) events: u64,
}

/// Reads and checks all sessions of a family (the sessions with one root). The check is necessary
/// because a damaged row could hide which events its session needs, and these would be erased.
fn family(conn: &Connection, root: Segment) -> Result<Vec<Session>> {
    static SQL: LazyLock<String> = LazyLock::new(|| session::select("WHERE s.root = ?"));
    let mut statement = conn.prepare_cached(&SQL)?;
    let mut rows = statement.query([root])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(session::read(conn, row, true)?);
    }
    Ok(found)
}

/// Returns, for each segment, the end (exclusive) of the positions that the sessions of a family
/// inherit. Sessions in the trash count, erased ones do not. Reads each ancestry page once.
fn needs(conn: &Connection, family: &[Session]) -> Result<BTreeMap<Segment, u64>> {
    let mut needs = BTreeMap::new();
    let mut pages = HashSet::new();
    for session in family.iter().filter(|session| !session.header.is_erased()) {
        let ancestry = ancestry::of(conn, session)?;
        note(&mut needs, &ancestry);
        let mut next: Vec<_> = ancestry.page.into_iter().collect();
        while let Some(id) = next.pop() {
            if pages.insert(id) {
                let page = ancestry::page(conn, id)?;
                note(&mut needs, &page.before);
                next.extend(page.others());
            }
        }
    }
    Ok(needs)
}

fn note(needs: &mut BTreeMap<Segment, u64>, ancestry: &Ancestry) {
    for span in &ancestry.spans {
        let need = needs.entry(signed(span.segment)).or_default();
        *need = (*need).max(span.to);
    }
}

/// Erases the events of tombstones and of private copies that no session needs, in the family whose
/// root is `root`. Sessions in the trash count as well as living ones.
pub(crate) fn trim(tx: &WriteTx<'_>, root: Segment) -> Result<Trimmed> {
    let family = family(tx, root)?;
    let needs = needs(tx, &family)?;
    let need = |segment| needs.get(&segment).copied().unwrap_or_default();
    let mut trimmed = Trimmed::default();
    for mut session in family {
        let (sid, need) = (session.sid, need(session.sid));
        let inheritable_to = session.inheritable_to.filter(|_| session.header.deleted.is_some());
        let Some(inheritable_to) = inheritable_to.filter(|retained_to| *retained_to > 0) else {
            continue;
        };
        if need < inheritable_to {
            trimmed.events += segment::erase_from(tx, sid, need)?;
            trimmed.events += segment::erase_own(tx, sid)?;
            session.inheritable_to = Some(need);
            let sql = "UPDATE session SET kept_to = ?, crc = ? WHERE sid = ?";
            session::update(tx, &session, sql, &[&signed(need)])?;
        }
        trimmed.count(sid, need);
    }
    for private in private_segment::of_family(tx, root)? {
        let (segment, need) = (private.segment, need(private.segment));
        if need < private.inheritable_to {
            trimmed.events += segment::erase_from(tx, segment, need)?;
            Private { inheritable_to: need, ..private }.save(tx)?;
        }
        if need == 0 {
            private_segment::forget(tx, segment)?;
        }
        trimmed.count(segment, need);
    }
    if trimmed.events > 0 {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(trimmed)
}

impl Trimmed {
    fn count(&mut self, segment: Segment, need: u64) {
        if need > 0 {
            self.retained.push(segment);
        } else {
            self.segments += 1;
        }
    }
}
