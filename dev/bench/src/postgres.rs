//! The PostgreSQL of the measurements.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use forklore::blocking;
use forklore::prelude::*;
use forklore_pgserver::Durable;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};

use crate::error::{Doing, Error, Result};
use crate::scene::Scene;

/// The settings that differ from PostgreSQL's defaults: memory and log for 1 GB of events, and no
/// autovacuum at a moment of its own choice.
const SETTINGS: [&str; 4] =
    ["shared_buffers=512MB", "max_wal_size=4GB", "max_connections=200", "autovacuum=off"];

/// A server with databases of forklore and of others.
pub(crate) struct Server {
    durable: Durable,
    _folder: TempDir,
}

/// A connection that is not forklore's.
pub(crate) struct Reader {
    runtime: Runtime,
    client: Client,
}

impl Server {
    pub(crate) fn start(scene: &Scene) -> Result<Self> {
        let folder = scene.folder()?;
        // PostgreSQL does not run as root, so another user has to enter the folder.
        for path in [scene.dir(), folder.path()] {
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(path, open).doing("cannot open to others", path)?;
        }
        let durable = Durable::start(folder.path(), &SETTINGS)?;
        Ok(Self { durable, _folder: folder })
    }

    pub(crate) fn durable(&self) -> &Durable {
        &self.durable
    }

    /// Creates a database. Returns its URL.
    pub(crate) fn database(&self, name: &str) -> Result<String> {
        self.durable.execute("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"))?;
        Ok(self.durable.url(name))
    }

    /// Creates a database with a store, and opens the store with so many connections.
    pub(crate) fn store(&self, name: &str, connections: usize) -> Result<Engine> {
        let url = self.database(name)?;
        open(&format!("{url}?pool={connections}"))
    }

    /// Connects to a database.
    pub(crate) fn reader(&self, name: &str) -> Result<Reader> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.doing("cannot start a runtime for", self.durable.address().as_ref())?;
        let url = self.durable.url(name);
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
            tokio::spawn(connection);
            Ok::<_, tokio_postgres::Error>(client)
        })?;
        Ok(Reader { runtime, client })
    }

    /// Writes everything to the files and brings the statistics up to date, so that no unfinished
    /// work disturbs the measurement.
    pub(crate) fn settle(&self, name: &str) -> Result<()> {
        self.durable.execute(name, "VACUUM ANALYZE")?;
        Ok(self.durable.execute(name, "CHECKPOINT")?)
    }

    /// Returns how many bytes of log the server writes during a call.
    pub(crate) fn written(&self, name: &str, call: impl FnOnce() -> Result<()>) -> Result<u64> {
        let reader = self.reader(name)?;
        let at = || reader.number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8");
        let before = at()?;
        call()?;
        Ok(at()?.saturating_sub(before))
    }

    /// Returns the bytes of all tables of a database, with their indexes.
    pub(crate) fn stored(&self, name: &str) -> Result<u64> {
        self.reader(name)?.number(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')",
        )
    }
}

/// Opens a store.
pub(crate) fn open(url: &str) -> Result<Engine> {
    blocking::open(url).map_err(|error| Error::Wrong(error.to_string()))
}

impl Reader {
    fn number(&self, sql: &str) -> Result<u64> {
        let rows = self.runtime.block_on(self.client.query_typed(sql, &[]))?;
        let number: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        Ok(number.unsigned_abs())
    }

    /// Reads the payloads of a session, and returns how many there are.
    pub(crate) fn payloads(&self, session: &str) -> Result<usize> {
        let sql = "SELECT data FROM forklore.event
             WHERE tenant = 'default' AND family = $1 AND session = $1 ORDER BY seq";
        let value: &(dyn tokio_postgres::types::ToSql + Sync) = &session;
        let rows = self.runtime.block_on(self.client.query_typed(sql, &[(value, Type::TEXT)]))?;
        let mut found = 0;
        for row in &rows {
            let text: &str = row.try_get(0)?;
            found += usize::from(!text.is_empty());
        }
        Ok(found)
    }
}
