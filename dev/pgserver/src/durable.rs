//! A server of its own that syncs its files, for measurements.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::programs::{command, directory, give, runnable};
use crate::{NoServer, port, postgres, statement};

/// A PostgreSQL server with durable commits. It ends when it is dropped; its files remain.
#[derive(Debug)]
pub struct Durable {
    child: Child,
    port: u16,
    programs: PathBuf,
}

impl Durable {
    /// Creates and starts a server with its files in `folder`, which other users must be able to
    /// enter. `settings` are more settings, each `name=value`.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn start(folder: &Path, settings: &[&str]) -> Result<Self, NoServer> {
        let home = folder.join("home");
        fs::create_dir(&home)?;
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755))?;
        let programs = runnable(directory()?, &home)?;
        give(&home)?;
        let (data, log) = (home.join("data"), folder.join("server.log"));
        postgres::initialise(&programs, &data)?;
        let mut started = None;
        for port in port::free() {
            let port = port?;
            let mut server = command(&programs.join("postgres"));
            server.arg("-D").arg(&data).args(["-p", &port.to_string()]);
            for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories="] {
                server.args(["-c", setting]);
            }
            for setting in settings {
                server.args(["-c", setting]);
            }
            server.stdout(Stdio::null()).stderr(File::create(&log)?);
            let mut child = server.spawn()?;
            if port::answers(&mut child, port, &data)? {
                started = Some(Self { child, port, programs });
                break;
            }
            let _ = (child.kill(), child.wait());
        }
        let failed = || NoServer::Failed("postgres", fs::read_to_string(&log).unwrap_or_default());
        started.ok_or_else(failed)
    }

    /// Returns the address of the server: its host and port.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the URL of a database of the server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", self.address())
    }

    /// Returns a command that runs one of the server's programs, such as `pgbench`, with a database
    /// of the server.
    #[must_use]
    pub fn program(&self, name: &str, database: &str) -> Command {
        let mut program = command(&self.programs.join(name));
        program.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres"]);
        program.env("PGDATABASE", database);
        program
    }

    /// Executes statements in a database of the server.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if the server refuses them.
    pub fn execute(&self, database: &str, sql: &str) -> Result<(), NoServer> {
        statement::execute(&self.url(database), sql)
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        // An interrupt ends the server at once, without waiting for its clients.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.child.wait();
    }
}
