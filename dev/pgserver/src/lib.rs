//! A real PostgreSQL for tests, on loopback.
//!
//! The first test process that needs the server starts it, and the others join. It ends by itself
//! some seconds after the last of these processes. Each test has a tenant of its own, so tests run
//! at the same time and do not see each other.
//!
//! ```no_run
//! let tenant = forklore_pgserver::Tenant::fresh()?;
//! let url = tenant.url();       // postgres://postgres@127.0.0.1:PORT/postgres?tenant=...
//! # let _ = url;
//! # Ok::<(), forklore_pgserver::NoServer>(())
//! ```
//!
//! The programs of the server are those of Debian's package `postgresql`, or those in the directory
//! that [`VARIABLE`] names. `cargo xtask test` installs them. [`URL`] names a running server
//! instead. The server does not sync its files, because no test of this server kills it.

mod programs;
mod server;
mod statement;

use std::path::PathBuf;

pub use programs::VARIABLE;
pub use server::{Server, URL};

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
    server: &'static Server,
    name: String,
}

impl Tenant {
    /// Starts or joins the server and invents a tenant that nobody has used.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn fresh() -> Result<Self, NoServer> {
        let name = format!("t{}", uuid::Uuid::new_v4().simple());
        Ok(Self { server: Server::shared()?, name })
    }

    /// Returns the URL of the store.
    #[must_use]
    pub fn url(&self) -> String {
        let url = self.server.url();
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}tenant={}", self.name)
    }

    /// Returns the name of the tenant.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Executes statements on the server.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if the server refuses them.
    pub fn execute(&self, sql: &str) -> Result<(), NoServer> {
        self.server.execute(sql)
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        let sql = format!(
            "DO $$ DECLARE t text; BEGIN
               FOR t IN SELECT table_name FROM information_schema.columns
                 WHERE table_schema = 'forklore' AND column_name = 'tenant' ORDER BY table_name DESC
               LOOP EXECUTE format('DELETE FROM forklore.%I WHERE tenant = %L', t, '{}'); END LOOP;
             END $$",
            self.name
        );
        // If it fails, the rows end with the server.
        let _ = self.execute(&sql);
    }
}
