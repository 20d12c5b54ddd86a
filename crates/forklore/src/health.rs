//! Checks the health of a store, even of one that does not open. `forklore doctor` and similar
//! programs use it.

use forklore_files::FilesStore;
use forklore_sqlite::SqliteStore;
use forklore_store::health::Health;

use crate::StoreUrl;

/// Checks the store that `url` names for problems and returns the findings. The store need not
/// exist. Does not create, write or repair anything.
///
/// ```
/// let dir = tempfile::tempdir().unwrap();
/// let url = forklore::StoreUrl::Sqlite(dir.path().join("sessions.db"));
/// let health = forklore::health(&url);
/// assert!(health.worst().is_none(), "{health:?}");
/// assert!(!dir.path().join("sessions.db").exists());
/// ```
#[must_use]
pub fn health(url: &StoreUrl) -> Health {
    match url {
        StoreUrl::Sqlite(path) => SqliteStore::health(path),
        StoreUrl::Files(path) => FilesStore::health(path),
        #[cfg(feature = "graph")]
        StoreUrl::Graph(path, _) => forklore_graph::GraphStore::health(path),
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(address) => forklore_postgres::PostgresStore::health(address),
        #[cfg(feature = "http")]
        StoreUrl::Http(address) => forklore_remote::HttpStore::health(address),
        StoreUrl::Memory => {
            let mut health = Health::default();
            health.ok("store", "in memory: gone with the program");
            health
        }
    }
}

/// Returns the name and version of forklore and of the SQLite library that it contains.
#[must_use]
pub fn versions() -> [(&'static str, &'static str); 2] {
    [("forklore", env!("CARGO_PKG_VERSION")), ("SQLite", forklore_sqlite::sqlite_version())]
}
