//! Starts the server of the tests, or joins the one that another test process has started.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use crate::NoServer;
use crate::programs::{command, directory, give, runnable};
use crate::statement;

const WATCH: &str = include_str!("watch.sh");
/// How often a process looks whether the server is there before it gives up, and the pause between.
const LOOKS: u32 = 600;
const PAUSE: Duration = Duration::from_millis(50);

/// The environment variable with the URL of a running server, for example behind a pooler, which the
/// tests use instead of one of their own.
pub const URL: &str = "FORKLORE_POSTGRES_URL";

/// The server of the tests. It runs as long as a process that has joined it.
#[derive(Debug)]
pub struct Server {
    url: String,
    _user: Option<File>,
}

impl Server {
    /// Returns the server that all test processes of this user share.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: OnceLock<Server> = OnceLock::new();
        static STARTING: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _one = STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(server) = SHARED.get() {
            return Ok(server);
        }
        let server = Self::join_or_start()?;
        Ok(SHARED.get_or_init(|| server))
    }

    /// Returns the URL of a database on the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Executes statements.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if the server refuses them.
    pub fn execute(&self, sql: &str) -> Result<(), NoServer> {
        let (url, _) = self.url.split_once('?').unwrap_or((&self.url, ""));
        statement::execute(url, sql)
    }

    fn join_or_start() -> Result<Self, NoServer> {
        if let Ok(url) = std::env::var(URL) {
            return Ok(Self { url, _user: None });
        }
        let programs = directory()?;
        let uid = rustix::process::geteuid().as_raw();
        let folder = std::env::temp_dir().join(format!("forklore-pgserver-{uid}"));
        fs::create_dir_all(&folder)?;
        let starting = File::create(folder.join("starting.lock"))?;
        starting.lock()?;
        let users = folder.join("users.lock");
        let user = File::create(&users)?;
        // Waits while an older server is being ended.
        user.lock_shared()?;
        let state = folder.join("port");
        if let Some(port) = running(&state) {
            return Ok(Self { url: url_of(port), _user: Some(user) });
        }
        let port = start(programs, &folder, &users, &state)?;
        Ok(Self { url: url_of(port), _user: Some(user) })
    }
}

fn url_of(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

/// Returns the port of the running server.
fn running(state: &Path) -> Option<u16> {
    let port = fs::read_to_string(state).ok()?.trim().parse().ok()?;
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok().map(|_| port)
}

fn start(programs: PathBuf, folder: &Path, users: &Path, state: &Path) -> Result<u16, NoServer> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let home = folder.join(format!("server-{port}"));
    fs::create_dir_all(&home)?;
    let programs = &runnable(programs, &home)?;
    give(&home)?;
    let data = home.join("data");
    initialise(programs, &data)?;
    let mut watch = Command::new("sh");
    watch.args(["-c", WATCH, "forklore-pgserver"]).args([users, state, &home]);
    // The server itself runs as another user than root; see `command`.
    let server = command(&programs.join("postgres"));
    watch.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    watch.arg(server.get_program()).args(server.get_args());
    watch.arg("-D").arg(&data).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        &format!("unix_socket_directories={}", home.display()),
        "fsync=off",
        "full_page_writes=off",
        "max_connections=300",
        "shared_buffers=64MB",
        "max_prepared_transactions=0",
        "log_min_messages=warning",
    ] {
        watch.args(["-c", setting]);
    }
    let log = File::create(folder.join("server.log"))?;
    watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0).spawn()?;
    for _ in 0..LOOKS {
        if statement::execute(&url_of(port), "SELECT 1").is_ok() {
            fs::write(state, port.to_string())?;
            return Ok(port);
        }
        sleep(PAUSE);
    }
    let log = fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    Err(NoServer::Failed("postgres", log))
}

fn initialise(programs: &Path, data: &PathBuf) -> Result<(), NoServer> {
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
