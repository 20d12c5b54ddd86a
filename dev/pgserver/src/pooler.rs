//! Starts PgBouncer in front of a server of the tests.

use std::fs::{self, File};
use std::io::Result as IoResult;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::folder::Folder;
use crate::programs::{self, command};
use crate::{NoServer, port};

/// Starts a pooler of the server on `server`, on the first of the ports that nobody else has.
/// Returns the port. The pooler ends with the server.
pub(crate) fn start(
    folder: &Folder,
    server: u16,
    ports: impl Iterator<Item = IoResult<u16>>,
) -> Result<u16, NoServer> {
    let home = folder.home();
    let program = programs::pooler(&home)?;
    let log = folder.path().join("pooler.log");
    let started = port::first_usable(ports, &home.join("data"), |port| {
        pooling(&program, &home, server, port, &log)
    })?;
    started
        .ok_or_else(|| NoServer::Failed("pgbouncer", fs::read_to_string(&log).unwrap_or_default()))
}

fn pooling(program: &Path, home: &Path, server: u16, port: u16, log: &Path) -> IoResult<Child> {
    let settings: PathBuf = home.join("pgbouncer.ini");
    fs::write(&settings, self::settings(home, server, port))?;
    let log = File::create(log)?;
    let mut pooler = command(program);
    pooler.arg(settings).stdout(Stdio::null()).stderr(log).process_group(0).spawn()
}

/// Few connections to the server, each used in turn, so that the transactions of a client go
/// through many of them.
fn settings(home: &Path, server: u16, port: u16) -> String {
    format!(
        "[databases]
* = host=127.0.0.1 port={server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = 16
max_client_conn = 500
log_connections = 0
log_disconnections = 0
pidfile = {}
",
        home.join("pgbouncer.pid").display()
    )
}
