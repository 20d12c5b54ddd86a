//! Looks for a regular expression in the text of documents, the latest first.

use std::collections::HashMap;

use forklore_core::SessionId;
use forklore_index::Result;
use forklore_store::port::LogEntry;
use rusqlite::Connection;

use crate::hits::{DocumentRow, Hits};

/// The largest size of the payloads that one search reads, in bytes.
const MOST_BYTES: usize = 256 << 20;

/// Adds the documents whose text matches to `hits`. `expression` selects the documents to read;
/// `None` selects all. Returns whether some were not read, because they are too many.
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

/// Reads events that are near each other, a page at a time.
#[derive(Default)]
struct Reader {
    session: Option<SessionId>,
    page: HashMap<u64, LogEntry>,
    bytes: usize,
}

impl Reader {
    /// Reads an event. Returns `None` if it cannot be read.
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
