//! Starts a program on a port that is free.

use std::io::Result;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::{NoServer, statement};

/// On how many ports a program is tried.
const PORTS: usize = 8;
/// How often a process looks whether a program is there before it gives up, and the pause between.
const LOOKS: u32 = 1_200;
const PAUSE: Duration = Duration::from_millis(25);

/// Returns ports that are free now.
pub(crate) fn free() -> impl Iterator<Item = Result<u16>> {
    let bound = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr();
    std::iter::repeat_with(move || bound().map(|address| address.port())).take(PORTS)
}

/// Returns the URL of a server on this machine.
pub(crate) fn url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

/// Starts a program on one port after the other until it answers there for the server with the
/// directory `data`. Another program may take a port before this one does, and may even answer;
/// this one ends then, and gets the next port. Returns the port; `None` if the program ended on
/// each of them.
pub(crate) fn first_usable(
    ports: impl Iterator<Item = Result<u16>>,
    data: &Path,
    start: impl Fn(u16) -> Result<Child>,
) -> std::result::Result<Option<u16>, NoServer> {
    for port in ports {
        let port = port?;
        let mut program = start(port)?;
        if answers(&mut program, port, data)? {
            return Ok(Some(port));
        }
        if program.try_wait()?.is_none() {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Waits until a program answers on a port for the server with the directory `data`. Returns whether
/// it did before it ended, and before the patience did.
pub(crate) fn answers(program: &mut Child, port: u16, data: &Path) -> Result<bool> {
    for _ in 0..LOOKS {
        if program.try_wait()?.is_some() {
            return Ok(false);
        }
        if is_server(port, data) {
            return Ok(true);
        }
        sleep(PAUSE);
    }
    Ok(false)
}

/// Checks whether the server with this directory answers on the port.
fn is_server(port: u16, data: &Path) -> bool {
    let sql = format!(
        "DO $$ BEGIN ASSERT current_setting('data_directory') = '{}'; END $$",
        data.display().to_string().replace('\'', "''")
    );
    statement::is_accepted(&url(port), &sql)
}
