//! Real PostgreSQL servers for tests, on loopback.
//!
//! The first test process that needs a server starts it, and the others join. It ends by itself
//! some seconds after the last of these processes, and nothing of it remains. Each test has a tenant
//! of its own, so tests run at the same time and do not see each other.
//!
//! ```no_run
//! let tenant = forklore_pgserver::Tenant::fresh()?;
//! let url = tenant.url();       // postgres://postgres@127.0.0.1:PORT/postgres?tenant=...
//! # let _ = url;
//! # Ok::<(), forklore_pgserver::NoServer>(())
//! ```
//!
//! A [`Target`] is a server and the way to it: PostgreSQL, the same behind PgBouncer, or a newer
//! PostgreSQL. The programs are those that Debian's packages install, or those that [`VARIABLE`],
//! [`NEWEST`] and [`POOLER`] name. `cargo xtask test` installs them. [`URL`] names a running server
//! instead. A server does not sync its files, because no test of it kills it. The servers of a
//! [`Cluster`] do; it belongs to one test, which kills them. So does a [`Durable`], for measurements.
//! A [`Tier`] is made by the commands of the documentation, with Patroni and etcd.

mod cluster;
mod durable;
mod folder;
mod pooler;
mod port;
mod postgres;
mod programs;
mod server;
mod statement;
mod tier;

use std::path::PathBuf;

use server::Server;

pub use cluster::Cluster;
pub use durable::Durable;
pub use programs::{ETCD, NEWEST, PATRONI, POOLER, VARIABLE};
pub use server::{Target, URL};
pub use tier::Tier;

/// The reason why there is no server for the tests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoServer {
    /// The programs of PostgreSQL are not installed.
    #[error(
        "no PostgreSQL in {0}, and this test needs one\n\
         hint: `cargo xtask test` installs Debian's package postgresql; or name the directory with \
         initdb and postgres in {VARIABLE}"
    )]
    NotInstalled(PathBuf),
    /// A program that no package installs where it is looked for is not named.
    #[error(
        "the variable {0} names no program for this test ({1})\n\
         hint: `cargo xtask test` installs what it needs and sets the variable"
    )]
    NotNamed(&'static str, PathBuf),
    /// One of its programs failed.
    #[error("{0} failed: {1}")]
    Failed(&'static str, String),
    /// The files of the server cannot be written.
    #[error("cannot prepare the server of the tests: {0}")]
    Io(#[from] std::io::Error),
    /// The server refused a statement.
    #[error("the server of the tests refused a statement: {0}")]
    Statement(#[from] tokio_postgres::Error),
}

/// A store of its own on the server of the tests. Its rows are removed when it is dropped.
#[derive(Debug)]
pub struct Tenant {
    server: Server,
    name: String,
}

impl Tenant {
    /// Starts or joins the server of [`Target::Direct`] and invents a tenant that nobody has used.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn fresh() -> Result<Self, NoServer> {
        Self::on(Target::Direct)
    }

    /// Starts or joins a server and invents a tenant that nobody has used.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn on(target: Target) -> Result<Self, NoServer> {
        let name = format!("t{}", uuid::Uuid::new_v4().simple());
        Ok(Self { server: Server::shared(target)?, name })
    }

    /// Returns the URL of the store.
    #[must_use]
    pub fn url(&self) -> String {
        let url = &self.server.url;
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}tenant={}", self.name)
    }

    /// Returns the name of the tenant.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Executes statements on the server, not through a pooler.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if the server refuses them.
    pub fn execute(&self, sql: &str) -> Result<(), NoServer> {
        self.server.execute(sql)
    }

    /// Executes statements in another database of the server.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if the server refuses them.
    pub fn execute_in(&self, database: &str, sql: &str) -> Result<(), NoServer> {
        self.server.execute_in(database, sql)
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        let sql = format!(
            "DO $$ DECLARE t text; BEGIN
               FOR t IN SELECT c.relname FROM pg_class c
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
                 WHERE c.relnamespace = to_regnamespace('forklore') AND c.relkind IN ('r', 'p')
                   AND NOT c.relispartition
                 ORDER BY c.relname DESC
               LOOP EXECUTE format('DELETE FROM forklore.%I WHERE tenant = %L', t, '{}'); END LOOP;
             END $$",
            self.name
        );
        // If it fails, the rows end with the server.
        let _ = self.execute(&sql);
    }
}
