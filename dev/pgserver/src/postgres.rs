//! Starts a PostgreSQL for the tests.

use std::fs::{self, File};
use std::io::Result as IoResult;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::folder::Folder;
use crate::programs::{command, give, runnable};
use crate::{NoServer, port};

const WATCH: &str = include_str!("watch.sh");

/// Starts the server in its folder, on the first of the ports that nobody else has. Returns the
/// port.
pub(crate) fn start(
    programs: PathBuf,
    folder: &Folder,
    ports: impl Iterator<Item = IoResult<u16>>,
) -> Result<u16, NoServer> {
    folder.clear()?;
    let home = folder.home();
    let programs = &runnable(programs, &home)?;
    give(&home)?;
    let data = home.join("data");
    initialise(programs, &data)?;
    let log = folder.path().join("server.log");
    let started = port::first_usable(ports, &data, |port| {
        watched(programs, folder, &data, port, File::create(&log)?)
    })?;
    started
        .ok_or_else(|| NoServer::Failed("postgres", fs::read_to_string(&log).unwrap_or_default()))
}

/// Starts the server and the script that ends it.
fn watched(programs: &Path, folder: &Folder, data: &Path, port: u16, log: File) -> IoResult<Child> {
    let mut watch = Command::new("sh");
    watch.args(["-c", WATCH, "forklore-pgserver"]).arg(folder.path());
    // The server itself runs as another user than root; see `command`.
    let server = command(&programs.join("postgres"));
    watch.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    watch.arg(server.get_program()).args(server.get_args());
    watch.arg("-D").arg(data).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        &format!("unix_socket_directories={}", folder.home().display()),
        "fsync=off",
        "full_page_writes=off",
        "max_connections=300",
        "shared_buffers=64MB",
        "max_prepared_transactions=0",
        "log_min_messages=warning",
    ] {
        watch.args(["-c", setting]);
    }
    watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0).spawn()
}

pub(crate) fn initialise(programs: &Path, data: &Path) -> Result<(), NoServer> {
    let done = command(&programs.join("initdb"))
        .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"])
        .args(["--no-sync", "--no-instructions", "-D"])
        .arg(data)
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(NoServer::Failed("initdb", String::from_utf8_lossy(&done.stderr).into_owned()))
}
