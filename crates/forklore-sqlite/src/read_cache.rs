//! A reading connection's cache of sessions. It is valid until another connection commits.

use std::collections::BTreeMap;

use forklore_core::SessionId;
use rusqlite::Connection;

use crate::fault::Result;
use crate::history::History;

/// Maximum number of sessions that a reading connection caches.
const MOST: usize = 64;

/// Sessions that a connection caches, with the locations of their inherited events. All were read
/// in the same state of the store.
#[derive(Debug, Default)]
pub(crate) struct ReadCache {
    /// SQLite's `data_version` on this connection when the sessions were read. It changes when
    /// another connection commits.
    state: i64,
    histories: BTreeMap<SessionId, History<'static>>,
    /// The number of bytes of payloads that the connection has read since it last gave back the
    /// mapped pages of the file.
    pub(crate) payload_bytes: usize,
}

impl ReadCache {
    /// Clears the cache if another connection has committed since it was filled. The caller must
    /// call this first in a read transaction, because the call fixes the state of the store that
    /// the transaction sees.
    pub(crate) fn look(&mut self, conn: &Connection) -> Result<()> {
        let mut statement = conn.prepare_cached("PRAGMA data_version")?;
        let state = statement.query_row([], |row| row.get(0))?;
        if state != self.state {
            self.histories.clear();
            self.state = state;
        }
        Ok(())
    }

    /// Removes a session from the cache and returns it, or `None` if the cache does not contain it.
    /// After a successful read, the caller inserts the session again.
    pub(crate) fn take(&mut self, id: &SessionId) -> Option<History<'static>> {
        self.histories.remove(id)
    }

    pub(crate) fn insert(&mut self, history: History<'static>) {
        if self.histories.len() >= MOST {
            self.histories.clear();
        }
        self.histories.insert(history.session.header.id.clone(), history);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forklore_conformance::events::turns;
    use forklore_conformance::{Handle, Scene};
    use forklore_core::SessionId;
    use forklore_store::Store;
    use forklore_store::port::{At, Direction, Query};

    use crate::{Options, SqliteStore};

    fn id(text: &str) -> SessionId {
        text.parse().unwrap()
    }

    #[test]
    fn what_another_handle_did_is_seen_by_the_next_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let open = || Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
        let (writing, reading) = (open(), open());
        let factory = || Handle::shared(writing.clone());
        let scene = Scene::new(&factory);
        scene.root("a", turns(2));
        scene.fork("a", "b", 3, turns(1));
        let query = Query { at: At::Seq(0), direction: Direction::Forward, limit: 99, bare: false };
        let read = |session| reading.read(&id(session), &query).map(|page| page.events);
        // The second of these two reads uses the cache.
        assert_eq!(read("b").unwrap(), scene.log("b"));
        assert_eq!(read("b").unwrap(), scene.log("b"));
        scene.append("b", turns(1));
        assert_eq!(read("b").unwrap(), scene.log("b"));
        scene.detach("b");
        assert_eq!(read("b").unwrap(), scene.log("b"));
        scene.delete("b");
        read("b").unwrap_err();
        scene.delete("a");
        read("a").unwrap_err();
    }

    #[test]
    fn a_session_is_remembered_until_something_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&dir.path().join("store.db"), Options::default()).unwrap();
        let store = Arc::new(store);
        let factory = || Handle::shared(store.clone());
        let scene = Scene::new(&factory);
        scene.root("a", turns(2));
        let cache = |session: &str| {
            store.read_cached("testing", |conn, cache| {
                cache.look(conn)?;
                Ok(cache.histories.contains_key(&id(session)))
            })
        };
        assert!(!cache("a").unwrap());
        scene.log("a");
        assert!(cache("a").unwrap());
        scene.append("a", turns(1));
        assert!(!cache("a").unwrap());
    }
}
