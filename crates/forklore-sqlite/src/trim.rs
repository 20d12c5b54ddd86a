//! Cutting nameless segments back behind the last event that a living session needs.

use std::collections::{BTreeMap, HashSet};

use rusqlite::Connection;

use crate::ancestry::{self, Ancestry};
use crate::fault::Result;
use crate::number::{signed, unsigned};
use crate::segment::{self, Segment};
use crate::write::WriteTx;

/// What a trim came to.
#[derive(Debug, Default)]
pub(crate) struct Trimmed {
    /// Nameless segments that stay.
    pub(crate) kept: Vec<Segment>,
    /// How many went wholly.
    pub(crate) segments: u64,
    /// Events erased.
    pub(crate) events: u64,
}

/// How far each segment of a family is needed by its living sessions: reads each of their rows
/// and each page once.
fn needs(conn: &Connection, root: Segment) -> Result<BTreeMap<Segment, u64>> {
    let sql = "SELECT s.sid FROM session s JOIN ancestry a ON a.sid = s.sid
               WHERE s.root = ? AND s.deleted IS NULL";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([root])?;
    let mut needs = BTreeMap::new();
    let mut pages = HashSet::new();
    while let Some(row) = rows.next()? {
        let ancestry = ancestry::load(conn, row.get(0)?)?;
        note(&mut needs, &ancestry);
        let mut next = ancestry.page;
        while let Some(id) = next.filter(|id| pages.insert(*id)) {
            let page = ancestry::page(conn, id)?;
            note(&mut needs, &page.before);
            next = page.before.page;
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

/// Trims the nameless segments of the family of this root.
pub(crate) fn trim(tx: &WriteTx<'_>, root: Segment) -> Result<Trimmed> {
    let needs = needs(tx, root)?;
    let need = |segment| needs.get(&segment).copied().unwrap_or_default();
    let mut trimmed = Trimmed::default();
    for (sid, kept_to) in nameless(tx, root, DELETED)? {
        let need = need(sid);
        if need < kept_to {
            trimmed.events += segment::erase_from(tx, sid, need)?;
            trimmed.events += segment::erase_own(tx, sid)?;
            tx.write("UPDATE session SET kept_to = ? WHERE sid = ?", &[&signed(need), &sid])?;
        }
        trimmed.count(sid, need);
    }
    for (id, kept_to) in nameless(tx, root, PRIVATE)? {
        let need = need(id);
        if need < kept_to {
            trimmed.events += segment::erase_from(tx, id, need)?;
            let sql = "UPDATE private_segment SET kept_to = ? WHERE id = ?";
            tx.write(sql, &[&signed(need), &id])?;
        }
        if need == 0 {
            tx.write("DELETE FROM private_segment WHERE id = ?", &[&id])?;
        }
        trimmed.count(id, need);
    }
    if trimmed.events > 0 {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(trimmed)
}

impl Trimmed {
    fn count(&mut self, segment: Segment, need: u64) {
        if need > 0 {
            self.kept.push(segment);
        } else {
            self.segments += 1;
        }
    }
}

const DELETED: &str = "SELECT sid, kept_to FROM session
    WHERE root = ? AND deleted IS NOT NULL AND kept_to > 0";
const PRIVATE: &str = "SELECT id, kept_to FROM private_segment
    WHERE root = ? AND heartbeat IS NULL";

fn nameless(conn: &Connection, root: Segment, sql: &str) -> Result<Vec<(Segment, u64)>> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([root], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
    rows.map(|row| row.map(|(segment, to)| Ok((segment, unsigned(to)?)))?).collect()
}
