//! Joins a server of the tests, or starts it.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::folder::Folder;
use crate::{NoServer, pooler, port, postgres, programs, statement};

/// The environment variable with the URL of a running server, which the tests of
/// [`Target::Direct`] use instead of one of their own.
pub const URL: &str = "FORKLORE_POSTGRES_URL";

/// The names under which a folder has the ports of the server and of its pooler.
const SERVER: &str = "port";
const POOLER: &str = "pooler.port";

/// Which server a store is on, and how its connections reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The PostgreSQL that is installed, or Debian's.
    Direct,
    /// The same, through PgBouncer in transaction mode.
    Pooled,
    /// A newer PostgreSQL than Debian's.
    Newest,
}

/// A server that this process has joined. It runs until the last such process has ended.
#[derive(Debug)]
struct Joined {
    port: u16,
    pooler: Option<u16>,
    _user: File,
}

static JOINED: Mutex<BTreeMap<PathBuf, Joined>> = Mutex::new(BTreeMap::new());

/// The URLs of a server of the tests.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// The URL of the database as a store is to reach it.
    pub(crate) url: String,
    /// The URL of the database without a pooler and without options of the store.
    direct: String,
}

impl Server {
    /// Joins the server that all test processes of this user share, or starts it.
    pub(crate) fn shared(target: Target) -> Result<Self, NoServer> {
        if target == Target::Direct
            && let Ok(url) = env::var(URL)
        {
            let direct = url.split('?').next().unwrap_or_default().to_owned();
            return Ok(Self { url, direct });
        }
        let programs = match target {
            Target::Direct | Target::Pooled => programs::directory()?,
            Target::Newest => programs::newest()?,
        };
        let (port, pooler) = ports(&programs, target == Target::Pooled)?;
        let direct = port::url(port);
        let url = match pooler {
            // Nobody can listen through a pooler.
            Some(pooler) => format!("{}?listen=127.0.0.1:{port}", port::url(pooler)),
            None => direct.clone(),
        };
        Ok(Self { url, direct })
    }

    /// Executes statements, not through a pooler.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), NoServer> {
        statement::execute(&self.direct, sql)
    }

    /// Executes statements in a database, not through a pooler.
    pub(crate) fn execute_in(&self, database: &str, sql: &str) -> Result<(), NoServer> {
        let server = self.direct.rsplit_once('/').map_or("", |(server, _)| server);
        statement::execute(&format!("{server}/{database}"), sql)
    }
}

/// Returns the ports of the server that runs these programs, and of its pooler if one is wanted.
fn ports(programs: &Path, is_pooled: bool) -> Result<(u16, Option<u16>), NoServer> {
    let path = env::temp_dir().join(folder(programs));
    let mut all = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.get(&path).map(|joined| (joined.port, joined.pooler));
    if let Some((port, pooler)) = found
        && (pooler.is_some() || !is_pooled)
    {
        return Ok((port, pooler.filter(|_| is_pooled)));
    }
    let folder = Folder::locked(path.clone())?;
    let user = folder.user()?;
    let port = match folder.port(SERVER) {
        Some(port) if folder.has_server()? => port,
        _ => {
            let started = postgres::start(programs.to_owned(), &folder, port::free());
            if started.is_err() && !folder.has_server()? {
                folder.remove()?;
            }
            let port = started?;
            folder.set_port(SERVER, port)?;
            port
        }
    };
    let mut pooler = folder.port(POOLER);
    if is_pooled && pooler.is_none() {
        let started = pooler::start(&folder, port, port::free())?;
        folder.set_port(POOLER, started)?;
        pooler = Some(started);
    }
    all.insert(path, Joined { port, pooler, _user: user });
    Ok((port, pooler.filter(|_| is_pooled)))
}

/// Returns the name of the folder for a server with these programs. Servers of other users and of
/// other versions have other folders.
fn folder(programs: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    programs.hash(&mut hasher);
    let user = rustix::process::geteuid().as_raw();
    format!("forklore-pgserver-{user}-{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::unix::fs::PermissionsExt as _;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_and_its_pooler_leave_a_port_that_another_program_has() {
        // It accepts no connection, so nobody who connects gets an answer.
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let in_use = other.local_addr().unwrap().port();
        let ports = || std::iter::once(Ok(in_use)).chain(port::free());
        let temporary = tempfile::tempdir().unwrap();
        set_permissions(temporary.path(), Permissions::from_mode(0o755)).unwrap();
        let path = temporary.path().join("server");
        let folder = Folder::locked(path.clone()).unwrap();
        let server = postgres::start(programs::directory().unwrap(), &folder, ports()).unwrap();
        let pooler = pooler::start(&folder, server, ports()).unwrap();
        assert!(server != in_use && pooler != in_use && server != pooler);
        for port in [server, pooler] {
            statement::execute(&port::url(port), "SELECT 1").unwrap();
        }
        // On no other port.
        let refused = pooler::start(&folder, server, ports().take(1)).unwrap_err();
        assert!(refused.to_string().contains("pgbouncer failed"), "{refused}");
        drop(folder);
        while path.exists() {
            sleep(Duration::from_millis(20));
        }
    }
}
