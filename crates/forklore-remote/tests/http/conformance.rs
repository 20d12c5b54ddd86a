//! Runs the conformance suite over HTTP: in front of a SQLite store with all its capabilities, and
//! in front of a store in memory.

use std::path::Path;
use std::sync::Arc;

use forklore_conformance::{Factory, Handle, TestStore};
use forklore_core::SessionId;
use forklore_remote::HttpStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store;
use forklore_store::memory::MemoryStore;

use crate::server::Server;

mod sqlite {
    use forklore_conformance::suite;

    suite!(
        super::Behind;
        durable, processes, maintenance, sources, attachments, shared_attachments, operations,
        shared_operations, loss
    );
}

mod memory {
    use forklore_conformance::{Handle, suite};
    use forklore_store::memory::MemoryStore;

    use super::over_http;

    suite!(
        || Handle::shared(over_http(MemoryStore::default()));
        maintenance, sources, attachments, operations
    );
}

/// Creates SQLite stores, each behind a server of its own.
struct Behind;

impl Factory for Behind {
    fn fresh(&self) -> Box<dyn TestStore> {
        let folder = tempfile::tempdir().unwrap();
        let store = sqlite(folder.path());
        Box::new(OfServer { url: running(store), folder })
    }

    fn join(&self, address: &str) -> Handle {
        Handle::new(HttpStore::open(address.parse().unwrap()).unwrap())
    }

    fn histories(&self) -> u32 {
        8
    }
}

fn sqlite(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("store.db"), Options::default()).unwrap()
}

struct OfServer {
    url: String,
    folder: tempfile::TempDir,
}

impl TestStore for OfServer {
    fn open(&self) -> Handle {
        Handle::new(HttpStore::open(self.address().parse().unwrap()).unwrap())
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    fn can_lose(&self) -> bool {
        true
    }

    /// Removes the row of a session.
    fn lose(&self, session: &SessionId) {
        let database = rusqlite::Connection::open(self.folder.path().join("store.db")).unwrap();
        let removed = database.execute("DELETE FROM session WHERE id = ?", [session.as_str()]);
        assert_eq!(removed, Ok(1));
    }
}

/// Returns a store behind a server.
fn over_http(store: MemoryStore) -> Arc<dyn Store> {
    Arc::new(HttpStore::open(running(store).parse().unwrap()).unwrap())
}

/// Starts a server in front of a store, which runs until the process of the test ends. Returns its URL.
fn running(store: impl Store + 'static) -> String {
    let server = Server::start(Arc::new(store));
    let url = server.url();
    std::mem::forget(server);
    url
}
