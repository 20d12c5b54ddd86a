//! Stores a session's ancestry: the list of spans that it inherits. The session's own row contains
//! the last spans, at most 16. Earlier spans are in pages that several sessions share.

use forklore_core::Counts;
use forklore_core::lineage::{self, Span, Unit, jumps_further};
use forklore_store::Error;
use rusqlite::{Connection, OptionalExtension};

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::{signed, unsigned};
use crate::segment::Segment;
use crate::session::Session;
use crate::write_tx::WriteTx;

/// Maximum number of spans in a database row that lists the events which a session inherits. A span
/// is a range of events that are stored together. When a row is full, its spans move to a page (a
/// row that several sessions share), so a page has at most this many too.
pub(crate) const WIDTH: usize = 16;

/// The list of the events that a session inherits. It consists of spans: ranges of events, each in
/// one segment (a group of events stored together). `spans` contains only the end of the list.
/// `page` is the id of the database row with the earlier part, or `None` if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ancestry {
    pub(crate) page: Option<i64>,
    pub(crate) spans: Vec<Span>,
}

/// A page: a database row with a part of a list of spans (ranges of inherited events). Several
/// sessions may share one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) before: Ancestry,
    /// The counts (of events, turns and bytes) at the end of this page. They cover the inherited
    /// history up to and including the page's last span.
    pub(crate) end: Counts,
    depth: u64,
    jump: Jump,
}

/// A link from one page of inherited ranges past several others to an earlier page. It speeds up
/// the search for old events. `page` is the id of the target, or `None` on the first page of a
/// chain. `depth` is the target's position in the chain, from 0. `start` has the event counts
/// before the target's first range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jump {
    page: Option<i64>,
    depth: u64,
    start: [u64; 3],
}

impl Page {
    fn start(&self) -> Counts {
        self.before.spans.first().map(|span| span.base).unwrap_or_default()
    }

    /// Returns the ids of the earlier pages (rows with inherited ranges) to which this page links.
    /// They are its predecessor and the target of its jump link, which skips pages. That target may
    /// be reachable only through the jump link, because `pack` joins ranges and removes links.
    pub(crate) fn others(&self) -> impl Iterator<Item = i64> + use<> {
        self.before.page.into_iter().chain(self.jump.page)
    }

    /// Chooses the earlier page to search next, and returns its id. The search is for the event at
    /// which the count of `unit` (events or turns) reaches `want`. The caller ensures that this
    /// page begins after that event. Returns `None` if this page is the first of its chain.
    pub(crate) fn towards(&self, unit: Unit, want: u64) -> Option<i64> {
        let [stored, index, turns] = self.jump.start;
        let start = Counts { inheritable: stored, index, turns, ..Counts::default() };
        match self.jump.page {
            Some(page) if unit.of(&start) >= want => Some(page),
            _ => self.before.page,
        }
    }
}

/// Reads the ancestry of the session `sid`. Returns an empty list if none is stored, as for a
/// session that inherits nothing.
pub(crate) fn load(conn: &Connection, sid: Segment) -> Result<Ancestry> {
    let sql = "SELECT page, spans, crc FROM ancestry WHERE sid = ?";
    let row = conn.prepare_cached(sql)?.query_row([sid], |row| {
        Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, i64>(2)?))
    });
    let Some((page, bytes, sum)) = row.optional()? else {
        return Ok(Ancestry::default());
    };
    let location = || format!("ancestry row {sid}");
    let expected = Fields::default().number(Some(sid)).number(page).bytes(Some(&bytes)).sum();
    let spans =
        spans(&bytes, expected, sum).map_err(|message| Fault::damaged(location(), &message))?;
    Ok(Ancestry { page, spans })
}

/// Reads the ancestry of a session.
///
/// # Errors
/// `MissingAncestor` if the session inherits events but has no list of spans.
pub(crate) fn of(conn: &Connection, session: &Session) -> Result<Ancestry> {
    let header = &session.header;
    if header.inherited.inheritable == 0 {
        return Ok(Ancestry::default());
    }
    let found = load(conn, session.sid).map_err(|fault| fault.of(&header.id, None))?;
    if found == Ancestry::default() {
        let (session, missing) = (header.id.clone(), "the list of its spans".into());
        return Err(Error::MissingAncestor { session, missing }.into());
    }
    Ok(found)
}

/// Stores the ancestry of the session `sid`. Replaces an earlier one.
pub(crate) fn save(tx: &WriteTx<'_>, sid: Segment, ancestry: &Ancestry) -> Result<()> {
    let bytes = lineage::encode(&ancestry.spans);
    let page = ancestry.page;
    let sum = Fields::default().number(Some(sid)).number(page).bytes(Some(&bytes)).sum();
    tx.write(
        "INSERT INTO ancestry (sid, page, spans, crc) VALUES (?, ?, ?, ?)
         ON CONFLICT (sid) DO UPDATE SET page = excluded.page, spans = excluded.spans,
             crc = excluded.crc",
        &[&sid, &page, &bytes, &i64::from(sum)],
    )?;
    Ok(())
}

/// Reads the ancestry page with this id. Checks its checksum, and that it links only to pages
/// created before it.
pub(crate) fn page(conn: &Connection, id: i64) -> Result<Page> {
    let sql = "SELECT prev, depth, jump, jump_depth, jump_kept, jump_index, jump_turns, spans, crc
               FROM ancestry_page WHERE id = ?";
    let row = conn.prepare_cached(sql)?.query_row([id], |row| {
        let positions: (Option<i64>, Option<i64>) = (row.get(0)?, row.get(2)?);
        let numbers: [i64; 5] = [row.get(1)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
        Ok((positions, numbers, row.get::<_, Vec<u8>>(7)?, row.get::<_, i64>(8)?))
    });
    let location = || format!("ancestry page {id}");
    let Some(((prev, jump), numbers, bytes, sum)) = row.optional()? else {
        return Err(Fault::damaged(location(), "it is missing"));
    };
    let expected = page_sum(id, prev, jump, &numbers, &bytes);
    let mut list =
        spans(&bytes, expected, sum).map_err(|message| Fault::damaged(location(), &message))?;
    if prev.into_iter().chain(jump).any(|earlier| earlier >= id) {
        return Err(Fault::damaged(location(), "it leads to one that was made later"));
    }
    let end = list.pop().ok_or_else(|| Fault::damaged(location(), "it is empty"))?.base;
    let [depth, jump_depth, stored, index, turns] = numbers;
    Ok(Page {
        before: Ancestry { page: prev, spans: list },
        end,
        depth: unsigned(depth)?,
        jump: Jump {
            page: jump,
            depth: unsigned(jump_depth)?,
            start: [unsigned(stored)?, unsigned(index)?, unsigned(turns)?],
        },
    })
}

/// Inserts an ancestry page with the list `spans`. The new page continues the list of the page
/// `prev`, or begins a list if `prev` is `None`. `end` are the event counts of the inherited
/// history up to the end of `spans`. Returns the id of the new page.
pub(crate) fn add_page(
    tx: &WriteTx<'_>,
    prev: Option<i64>,
    spans: &[Span],
    end: Counts,
) -> Result<i64> {
    let mut spans = spans.to_vec();
    spans.push(Span { segment: 0, to: 0, base: end });
    let bytes = lineage::encode(&spans);
    let (depth, jump) = match prev {
        None => (0, Jump { page: None, depth: 0, start: [0; 3] }),
        Some(prev) => beyond(tx, prev)?,
    };
    let [stored, index, turns] = jump.start.map(signed);
    let numbers = [signed(depth), signed(jump.depth), stored, index, turns];
    tx.write(
        "INSERT INTO ancestry_page
             (prev, depth, jump, jump_depth, jump_kept, jump_index, jump_turns, spans, crc)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
        &[&prev, &numbers[0], &jump.page, &numbers[1], &stored, &index, &turns, &bytes],
    )?;
    // The checksum covers the page's id, which is known only after the insert.
    let id = tx.last_insert_rowid();
    let sum = i64::from(page_sum(id, prev, jump.page, &numbers, &bytes));
    tx.write("UPDATE ancestry_page SET crc = ? WHERE id = ?", &[&sum, &id])?;
    Ok(id)
}

/// Replaces all spans of an ancestry page by `span`. Removes the page's links to earlier pages,
/// because `span` also covers the events of all those pages. `end` are the event counts of the
/// history up to the end of `span`.
pub(crate) fn replace_page(tx: &WriteTx<'_>, id: i64, span: Span, end: Counts) -> Result<()> {
    let bytes = lineage::encode(&[span, Span { segment: 0, to: 0, base: end }]);
    let sum = i64::from(page_sum(id, None, None, &[0; 5], &bytes));
    tx.write(
        "UPDATE ancestry_page SET prev = NULL, depth = 0, jump = NULL, jump_depth = 0,
             jump_kept = 0, jump_index = 0, jump_turns = 0, spans = ?, crc = ? WHERE id = ?",
        &[&bytes, &sum, &id],
    )?;
    Ok(())
}

/// Computes the depth and the jump link of a new ancestry page after the page `prev`. The depth of
/// a page is its position in the chain of pages.
fn beyond(conn: &Connection, prev: i64) -> Result<(u64, Jump)> {
    let last = page(conn, prev)?;
    let depth = last.depth + 1;
    if let Some(target) = last.jump.page {
        let jumped = page(conn, target)?.jump;
        if jumps_further(last.depth, last.jump.depth, jumped.depth) {
            // The first page's jump leads to that page itself and is not stored.
            let jump = if jumped.page.is_some() { jumped } else { last.jump };
            return Ok((depth, jump));
        }
    }
    let Counts { inheritable: stored, index, turns, .. } = last.start();
    let jump = Jump { page: Some(prev), depth: last.depth, start: [stored, index, turns] };
    Ok((depth, jump))
}

/// Reads and checks all ancestry rows: the lists of inherited ranges of sessions, and the pages
/// that sessions share. The caller must do this before it erases unused pages, because damage could
/// make a used page seem unused.
pub(crate) fn check_all(conn: &Connection) -> Result<()> {
    let numbers = |sql| -> Result<Vec<i64>> {
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    for sid in numbers("SELECT sid FROM ancestry")? {
        load(conn, sid)?;
    }
    for id in numbers("SELECT id FROM ancestry_page")? {
        page(conn, id)?;
    }
    Ok(())
}

fn page_sum(id: i64, prev: Option<i64>, jump: Option<i64>, numbers: &[i64], bytes: &[u8]) -> u32 {
    let fields = Fields::default().number(Some(id));
    fields.number(prev).number(jump).numbers(numbers).bytes(Some(bytes)).sum()
}

fn spans(bytes: &[u8], expected: u32, stored: i64) -> Result<Vec<Span>, String> {
    if i64::from(expected) != stored {
        return Err("it does not fit its checksum".into());
    }
    lineage::decode(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, SqliteStore};

    #[test]
    fn pages_that_lead_in_a_circle_are_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&dir.path().join("store.db"), Options::default()).unwrap();
        let span = Span { segment: 1, to: 1, base: Counts::default() };
        let circle = |first: i64| {
            store.write("testing", |tx| {
                let end = Counts { inheritable: 1, ..Counts::default() };
                let last = add_page(tx, Some(first), &[span], end)?;
                let bytes = lineage::encode(&[span, Span { segment: 0, to: 0, base: end }]);
                let sum = i64::from(page_sum(first, Some(last), None, &[0; 5], &bytes));
                tx.write(
                    "UPDATE ancestry_page SET prev = ?, spans = ?, crc = ? WHERE id = ?",
                    &[&last, &bytes, &sum, &first],
                )?;
                Ok((page(tx, last).is_ok(), page(tx, first).is_err()))
            })
        };
        let first = store.write("testing", |tx| add_page(tx, None, &[span], Counts::default()));
        assert_eq!(circle(first.unwrap()).unwrap(), (true, true));
    }
}
