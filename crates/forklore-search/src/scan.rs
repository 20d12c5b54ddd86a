//! Looks for a regular expression in the text of documents, the latest first.

use std::collections::HashMap;

use forklore_core::{ErrorKind, SessionId};
use forklore_engine::Engine;
use forklore_index::Result;
use forklore_store::port::{At, Direction, LogEntry, Query as Read};
use rusqlite::Connection;

use crate::document::Document;
use crate::hits::{Hits, Place};

/// The largest size of the payloads that one search reads, in bytes.
const MOST_BYTES: usize = 256 << 20;
/// The number of documents that are read at once.
const AT_ONCE: usize = 256;
/// The number of events that one read of the store returns at most.
const PAGE: usize = 64;

/// Adds the documents whose text matches to `hits`. `expression` selects the documents to read;
/// `None` selects all. Returns whether some were not read, because they are too many.
pub(crate) fn documents(
    engine: &Engine,
    conn: &Connection,
    expression: Option<&str>,
    since: i64,
    hits: &mut Hits<'_>,
) -> Result<bool> {
    let (sql, expression) = match expression {
        Some(expression) => {
            ("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC", expression)
        }
        None => ("SELECT number FROM document WHERE ? = '' ORDER BY number DESC", ""),
    };
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([expression])?;
    let mut bytes = 0;
    loop {
        let mut places = Vec::new();
        while places.len() < AT_ONCE
            && let Some(row) = rows.next()?
        {
            let place = Place::of(conn, row.get(0)?)?;
            places.extend(place.filter(|place| place.is_since(since)));
        }
        if places.is_empty() || hits.is_full() {
            return Ok(false);
        }
        if bytes > MOST_BYTES {
            return Ok(true);
        }
        let mut reader = Reader { engine, page: HashMap::new(), session: None, bytes: 0 };
        for place in &places {
            if hits.is_full() {
                return Ok(false);
            }
            let entry = match hits.source(place)? {
                Some((session, seq)) => reader.read(&session, seq)?,
                None => None,
            };
            let entry = entry.map(|entry| (Document::of(engine, &entry.event, |_| None), entry));
            if hits.matches(place, entry.as_ref().map(|(document, _)| document))? {
                hits.add(place, 0.0, entry)?;
            }
        }
        bytes += reader.bytes;
    }
}

/// Reads events that are near each other, a page at a time.
struct Reader<'a> {
    engine: &'a Engine,
    session: Option<SessionId>,
    page: HashMap<u64, LogEntry>,
    bytes: usize,
}

impl Reader<'_> {
    /// Reads an event. Returns `None` if the session was deleted meanwhile.
    fn read(&mut self, session: &SessionId, seq: u64) -> Result<Option<LogEntry>> {
        if self.session.as_ref() != Some(session) {
            self.session = Some(session.clone());
            self.page.clear();
        }
        if let Some(entry) = self.page.remove(&seq) {
            return Ok(Some(entry));
        }
        let (at, direction) = (At::Seq(seq), Direction::Backward);
        let query = Read { at, direction, limit: PAGE, bare: false };
        let page = match self.engine.store().read(session, &query) {
            Ok(page) => page,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.bytes += page.events.iter().map(|entry| entry.event.data.get().len()).sum::<usize>();
        self.page = page.events.into_iter().map(|entry| (entry.seq, entry)).collect();
        Ok(self.page.remove(&seq))
    }
}
