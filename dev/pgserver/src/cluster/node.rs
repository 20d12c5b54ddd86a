//! A server of a cluster.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use rustix::process::{Pid, Signal, kill_process};

use super::{LOOKS, PAUSE};
use crate::programs::command;
use crate::{NoServer, postgres, statement};

const WATCH: &str = include_str!("watch.sh");

/// A server with its files and its address.
///
/// The address is one of 127.0.0.0/8 that nobody else invents. So nobody takes its port while the
/// server is down.
#[derive(Debug)]
pub(super) struct Node {
    name: String,
    home: PathBuf,
    programs: PathBuf,
    ip: Ipv4Addr,
    port: u16,
    /// The script that runs the server, which ends it when its standard input is closed.
    watch: Option<Child>,
}

/// Returns the name under which a standby is named by its primary.
pub(super) fn name(node: usize) -> String {
    format!("n{node}")
}

impl Node {
    pub(super) fn new(node: usize, home: &Path, programs: &Path, random: &[u8; 16]) -> Self {
        let [a, b, c, ..] = *random;
        let last = c.saturating_sub(10).max(1) + u8::try_from(node).unwrap_or(0);
        let ip = Ipv4Addr::new(127, a.max(1), b, last);
        let (home, programs) = (home.to_owned(), programs.to_owned());
        Self { name: name(node), home, programs, ip, port: 0, watch: None }
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn host(&self) -> String {
        format!("{}:{}", self.ip, self.port)
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.host())
    }

    /// Returns the URL for statements of a test, which no limit that the test sets may end.
    pub(super) fn url_without_limits(&self) -> String {
        format!("{}?options=-c%20statement_timeout%3D0%20-c%20lock_timeout%3D0", self.url())
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.home.join(format!("{}.log", self.name))).unwrap_or_default()
    }

    fn data(&self) -> PathBuf {
        self.home.join(&self.name)
    }

    /// Returns how a standby connects to this server.
    pub(super) fn followed_by(&self, standby: &Self) -> String {
        let Self { ip, port, .. } = self;
        format!("host={ip} port={port} user=postgres application_name={}", standby.name)
    }

    /// Creates the files of an empty database.
    pub(super) fn initialise(&self) -> Result<(), NoServer> {
        fs::write(self.home.join("owned"), std::process::id().to_string())?;
        postgres::initialise(&self.programs, &self.data())?;
        let mut access = OpenOptions::new().append(true).open(self.data().join("pg_hba.conf"))?;
        for what in ["all", "replication"] {
            writeln!(access, "host {what} all 127.0.0.0/8 trust")?;
        }
        Ok(())
    }

    /// Replaces the files by a copy of those of another server.
    pub(super) fn copy_from(&self, line: &str) -> Result<(), NoServer> {
        if self.data().exists() {
            fs::remove_dir_all(self.data())?;
        }
        let done = command(&self.programs.join("pg_basebackup"))
            .args(["--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf"])
            .args(["--dbname", line, "--pgdata"])
            .arg(self.data())
            .output()?;
        if done.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        Err(NoServer::Failed("pg_basebackup", message))
    }

    /// Starts the server, and waits until it answers.
    pub(super) fn start(&mut self) -> Result<(), NoServer> {
        if self.port == 0 {
            self.port = TcpListener::bind((self.ip, 0))?.local_addr()?.port();
        }
        self.watch = Some(self.watched()?);
        for _ in 0..LOOKS {
            if statement::is_accepted(&self.url(), "SELECT 1") {
                return Ok(());
            }
            sleep(PAUSE);
        }
        Err(NoServer::Failed("postgres", self.log()))
    }

    fn watched(&self) -> Result<Child, NoServer> {
        let log = File::create(self.home.join(format!("{}.log", self.name)))?;
        let server = command(&self.programs.join("postgres"));
        let mut watch = Command::new("sh");
        watch.args(["-c", WATCH, "forklore-cluster"]).arg(&self.home);
        watch.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
        watch.arg(server.get_program()).args(server.get_args());
        watch.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        for setting in [
            format!("listen_addresses={}", self.ip),
            format!("unix_socket_directories={}", self.home.display()),
            format!("cluster_name={}", self.name),
            "fsync=on".into(),
            "max_connections=100".into(),
            "shared_buffers=32MB".into(),
            "wal_keep_size=256MB".into(),
            "wal_retrieve_retry_interval=100ms".into(),
            "wal_receiver_status_interval=1s".into(),
            "log_min_messages=warning".into(),
        ] {
            watch.args(["-c", &setting]);
        }
        Ok(watch
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()?)
    }

    /// Returns the number of the server's first process.
    fn pid(&self) -> Result<Pid, NoServer> {
        let lines = fs::read_to_string(self.data().join("postmaster.pid"))?;
        let pid = lines.lines().next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        pid.ok_or_else(|| NoServer::Failed("postgres", "it has no number of its process".into()))
    }

    /// Kills all processes of the server at once.
    pub(super) fn kill(&mut self) -> Result<(), NoServer> {
        let first = self.pid()?;
        let signal = |pid, signal| kill_process(pid, signal).map_err(std::io::Error::from);
        // It must not start or count its processes while they are killed.
        signal(first, Signal::STOP)?;
        let number = first.as_raw_nonzero();
        let all = fs::read_to_string(format!("/proc/{number}/task/{number}/children"))?;
        signal(first, Signal::KILL)?;
        let all = all.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
        let all: Vec<_> = all.collect();
        for pid in &all {
            // One that has ended meanwhile is gone.
            let _ = signal(*pid, Signal::KILL);
        }
        for pid in all {
            while Path::new(&format!("/proc/{}/exe", pid.as_raw_nonzero())).exists() {
                sleep(PAUSE);
            }
        }
        self.end();
        fs::remove_file(self.data().join("postmaster.pid"))?;
        Ok(())
    }

    /// Ends the server as an administrator does, who does not wait for its clients.
    pub(super) fn stop(&mut self) -> Result<(), NoServer> {
        kill_process(self.pid()?, Signal::INT).map_err(std::io::Error::from)?;
        while self.data().join("postmaster.pid").exists() {
            sleep(PAUSE);
        }
        self.end();
        Ok(())
    }

    /// Ends the script, and what is left of the server.
    fn end(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            drop(watch.stdin.take());
            let _ = watch.wait();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}
