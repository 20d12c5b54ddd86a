//! Follows the feed of a store: finds the sessions that changed, and reads their headers.
//!
//! Headers are read inside the write transaction. Of two processes that update the index, the later
//! one thus never writes an older state of a session.

use std::time::Duration;

use forklore_core::Header;
use forklore_store::port::{Changes, Filter, Mark, Since};
use forklore_store::{Error, Store};
use rusqlite::Connection;

use crate::fault::Result;
use crate::file::{IndexFile, state};
use crate::witness;

impl IndexFile {
    /// Passes to `note`, inside a transaction, the sessions that changed since the index last
    /// followed the store. If the index belongs to another store, or to a later state of this one,
    /// empties the index and passes all sessions of the store. Includes deleted sessions. The
    /// headers are in the order of the sessions' last commits.
    ///
    /// # Errors
    /// `Store` if the store cannot be read, the error of `note`, or `Sql` if SQLite fails.
    pub fn follow(
        &mut self,
        store: &dyn Store,
        note: impl FnOnce(&Connection, &[Header]) -> Result<()>,
    ) -> Result<()> {
        // If nothing has changed since the last question, no lock is needed.
        if let Some(changes) = continued(self.conn(), store)?
            && changes.sessions.is_empty()
        {
            return Ok(());
        }
        let layout = self.layout();
        self.write(|conn| {
            let (mark, headers) = match continued(conn, store)? {
                Some(changes) => {
                    let ids = changes.sessions.iter().map(|change| &change.session);
                    let headers = ids.map(|id| store.header(id)).collect::<Result<_, Error>>()?;
                    (changes.mark, headers)
                }
                None => {
                    layout.empty(conn)?;
                    // The mark is read before the sessions, so that the next update includes every
                    // change during this one.
                    let mark = store.changes(&Since::Now, 0, Duration::ZERO)?.mark;
                    let everybody = Filter { deleted: true, ..Filter::default() };
                    let mut headers = store.sessions(&everybody, None, 0)?.all()?;
                    headers.reverse();
                    (mark, headers)
                }
            };
            note(conn, &headers)?;
            witness::remember(conn, store, &headers)?;
            conn.execute("UPDATE state SET mark = ?", [mark.as_str()])?;
            Ok(())
        })
    }
}

/// Returns the changes since the index last followed the store. `None` if the index never followed
/// a store, or followed another one, or if events that it has read were redacted.
fn continued(conn: &Connection, store: &dyn Store) -> Result<Option<Changes>> {
    let Some(mark) = state(conn)?.mark else { return Ok(None) };
    let since = Since::Mark(Mark::new(mark));
    let changes = match store.changes(&since, 0, Duration::ZERO) {
        Ok(changes) => changes,
        Err(Error::ForeignMark(_) | Error::MarkExpired { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if any_redacted(store, &changes)? {
        return Ok(None);
    }
    Ok(witness::holds(conn, store, &changes.sessions)?.then_some(changes))
}

/// Checks whether one of the changed sessions may have been redacted. The index has read its events
/// before, with what was taken away since.
fn any_redacted(store: &dyn Store, changes: &Changes) -> Result<bool> {
    for change in changes.sessions.iter().filter(|change| change.created) {
        match store.redacted(&change.session) {
            Ok(redacted) if !redacted.is_empty() => return Ok(true),
            Err(error) if error.is_of_store() => return Err(error.into()),
            // The index reads nothing more of a session that was deleted or cannot be read.
            _ => {}
        }
    }
    Ok(false)
}
