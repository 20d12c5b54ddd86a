//! The least that a durable append can be on a server: pgbench inserts the same bytes into a table
//! without a key.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use crate::error::{Doing, Error, Result};
use crate::postgres::Server;
use crate::scene::Scene;

/// A database in which pgbench inserts.
pub(super) struct Bare<'s> {
    server: &'s Server,
    database: String,
    script: PathBuf,
    _folder: TempDir,
}

impl<'s> Bare<'s> {
    /// Creates the table in the database of a store, whose appends it is compared with.
    pub(super) fn new(scene: &Scene, server: &'s Server, database: &str) -> Result<Self> {
        server.durable().execute(database, "CREATE TABLE bare (payload text NOT NULL)")?;
        let folder = scene.folder()?;
        let script = folder.path().join("insert.sql");
        // As long as the payload of an append, which is JSON too.
        let filler = "It depends on what the caller has seen so far. ".repeat(22);
        let mut text = format!(r#"{{"content":"{filler}"#);
        text.truncate(1_022);
        fs::write(&script, format!("INSERT INTO bare VALUES ('{text}\"}}');\n"))
            .doing("cannot write", &script)?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
            .doing("cannot open to others", folder.path())?;
        Ok(Self { server, database: database.to_owned(), script, _folder: folder })
    }

    /// Inserts for some time over so many connections. Returns the time divided by the number of
    /// inserts.
    pub(super) fn insert(&self, connections: usize, time: Duration) -> Result<Duration> {
        let mut pgbench = self.server.durable().program("pgbench", &self.database);
        pgbench.args(["--no-vacuum", "--protocol", "extended"]).arg("--file").arg(&self.script);
        pgbench.args(["--client", &connections.to_string(), "--jobs", "1"]);
        pgbench.args(["--time", &time.as_secs().max(1).to_string()]);
        let done = pgbench.output().doing("cannot start pgbench in", &self.script)?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
        let rate = rate.and_then(|rate| rate.parse::<f64>().ok()).filter(|rate| *rate > 0.0);
        let failed = || Error::Wrong(format!("pgbench: {}", String::from_utf8_lossy(&done.stderr)));
        Ok(Duration::from_secs_f64(1.0 / rate.ok_or_else(failed)?))
    }
}
