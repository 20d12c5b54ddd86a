//! Searches the text of documents for a regular expression, beginning with the latest document.

use std::collections::HashMap;

use forklore_core::SessionId;
use forklore_index::Result;
use forklore_store::port::LogEntry;
use rusqlite::Connection;

use crate::hits::{DocumentRow, Hits};

/// The maximum total size, in bytes, of the payloads that one search reads.
const MOST_BYTES: usize = 256 << 20;

/// Adds to `hits` the documents whose text matches the regular expression. `expression` selects the
/// documents to examine; `None` selects all. Returns whether documents remain that were not
/// examined because their payloads exceed the limit.
pub(crate) fn documents(
    conn: &Connection,
    expression: Option<&str>,
    since: i64,
    hits: &mut Hits<'_>,
) -> Result<bool> {
    let sql = match expression {
        Some(_) => "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC",
        None => "SELECT number FROM document WHERE ? IS NULL ORDER BY number DESC",
    };
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([expression])?;
    let mut reader = Reader::default();
    while let Some(row) = rows.next()? {
        if hits.is_full() {
            break;
        }
        if reader.bytes > MOST_BYTES {
            return Ok(true);
        }
        let row = DocumentRow::of(conn, row.get(0)?)?;
        let Some(row) = row.filter(|row| row.is_since(since)) else { continue };
        let entry = match hits.source(&row)? {
            Some((session, seq)) => reader.read(hits, &session, seq)?,
            None => None,
        };
        let entry = entry.map(|entry| (hits.document(&entry), entry));
        if hits.matches(&row, entry.as_ref().map(|(document, _)| document))? {
            hits.add(&row, 0.0, entry)?;
        }
    }
    Ok(false)
}

/// A reader of events, one page at a time. Events of the same page need no further read.
#[derive(Default)]
struct Reader {
    session: Option<SessionId>,
    page: HashMap<u64, LogEntry>,
    bytes: usize,
}

impl Reader {
    /// Returns the event of `session` at `seq`, or `None` if it cannot be read.
    fn read(
        &mut self,
        hits: &mut Hits<'_>,
        session: &SessionId,
        seq: u64,
    ) -> Result<Option<LogEntry>> {
        if self.session.as_ref() != Some(session) {
            self.session = Some(session.clone());
            self.page.clear();
        }
        if let Some(entry) = self.page.remove(&seq) {
            return Ok(Some(entry));
        }
        let page = hits.page(session, seq)?;
        self.bytes += page.iter().map(|entry| entry.event.data.get().len()).sum::<usize>();
        self.page = page.into_iter().map(|entry| (entry.seq, entry)).collect();
        Ok(self.page.remove(&seq))
    }
}
