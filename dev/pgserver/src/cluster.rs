//! A highly available PostgreSQL for tests: a primary with two standbys that can be killed.

mod node;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use node::Node;
use rustix::process::{Pid, Signal, kill_process};

use crate::programs::{directory, give, runnable};
use crate::{NoServer, statement};

const NODES: usize = 3;
const PAUSE: Duration = Duration::from_millis(10);
/// How often the cluster is looked at before a test is told that it does not recover.
const LOOKS: u32 = 3_000;

/// A primary with two standbys, of which one must confirm each commit. Their files are synced.
///
/// All servers end, and their files are removed, when this value is dropped or its process ends.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    primary: usize,
}

impl Cluster {
    /// Starts the three servers and waits until both standbys follow.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn start() -> Result<Self, NoServer> {
        let id = uuid::Uuid::new_v4();
        let home = std::env::temp_dir().join(format!("forklore-cluster-{}", id.simple()));
        std::fs::create_dir(&home)?;
        give(&home)?;
        let programs = runnable(directory()?, &home)?;
        let nodes = (0..NODES).map(|at| Node::new(at, &home, &programs, id.as_bytes()));
        let mut cluster = Self { nodes: nodes.collect(), primary: 0 };
        let primary = cluster.node_mut(0)?;
        primary.initialise()?;
        primary.start()?;
        for standby in 1..NODES {
            cluster.copy(standby)?;
        }
        cluster.demand_confirmation()?;
        cluster.wait_for_followers(NODES - 1, "true")?;
        Ok(cluster)
    }

    /// Returns the URL of a store on the cluster: it names all servers.
    #[must_use]
    pub fn url(&self) -> String {
        let hosts: Vec<_> = self.nodes.iter().map(Node::host).collect();
        format!("postgres://postgres@{}/postgres", hosts.join(","))
    }

    /// Returns the URL that names one server only.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if there is no such server.
    pub fn url_of(&self, node: usize) -> Result<String, NoServer> {
        Ok(self.node(node)?.url())
    }

    /// Returns the number of the primary.
    #[must_use]
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// Returns the numbers of the servers that are no primary.
    pub fn standbys(&self) -> impl Iterator<Item = usize> + use<> {
        let primary = self.primary;
        (0..NODES).filter(move |node| *node != primary)
    }

    /// Executes statements on a server.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if it refuses them.
    pub fn execute(&self, node: usize, sql: &str) -> Result<(), NoServer> {
        statement::execute(&self.node(node)?.url_without_limits(), sql)
    }

    /// Returns the first value of the answer to a query on a server.
    ///
    /// # Errors
    /// [`NoServer::Statement`] if it refuses the query.
    pub fn query(&self, node: usize, sql: &str) -> Result<String, NoServer> {
        statement::query(&self.node(node)?.url_without_limits(), sql)
    }

    /// Kills a server with all its processes, as if its machine had lost its power.
    ///
    /// # Errors
    /// [`NoServer::Io`] if its processes cannot be found.
    pub fn kill(&mut self, node: usize) -> Result<(), NoServer> {
        self.node_mut(node)?.kill()
    }

    /// Kills the process of one connection of a store on a server. The server then ends all others
    /// and repairs its files, as after a crash.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if nobody connects.
    pub fn kill_backend(&self, node: usize) -> Result<(), NoServer> {
        let of_stores = "FROM pg_stat_activity WHERE application_name = 'forklore'";
        self.wait(node, &format!("SELECT EXISTS (SELECT {of_stores})"))?;
        let pid = self.query(node, &format!("SELECT max(pid) {of_stores}"))?;
        let pid = pid.parse().ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| NoServer::Failed("postgres", "nobody is connected".into()))?;
        kill_process(pid, Signal::KILL).map_err(io::Error::from)?;
        Ok(())
    }

    /// Ends a server, as an administrator does, and starts it again.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn restart(&mut self, node: usize) -> Result<(), NoServer> {
        let node = self.node_mut(node)?;
        node.stop()?;
        node.start()
    }

    /// Starts a server again that was killed.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn start_again(&mut self, node: usize) -> Result<(), NoServer> {
        self.node_mut(node)?.start()
    }

    /// Makes a standby the primary, after the old one was killed: the one that has received the
    /// most. The other one follows it.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn promote(&mut self) -> Result<(), NoServer> {
        let standbys: Vec<_> = self.standbys().collect();
        let mut received = Vec::new();
        for &node in &standbys {
            // What is still in its socket would put it in front of one that was promoted.
            self.wait(node, "SELECT count(*) = 0 FROM pg_stat_wal_receiver WHERE pid IS NOT NULL")?;
            let sql = "SELECT (pg_last_wal_receive_lsn() - '0/0')::int8::text";
            let bytes: u64 = self.query(node, sql)?.parse().unwrap_or(0);
            received.push((bytes, node));
        }
        let (_, chosen) = received.into_iter().max().unwrap_or_default();
        self.execute(chosen, "SELECT pg_promote()")?;
        self.primary = chosen;
        for other in standbys.into_iter().filter(|node| *node != chosen) {
            let line = self.node(chosen)?.followed_by(self.node(other)?);
            self.execute(other, &format!("ALTER SYSTEM SET primary_conninfo = '{line}'"))?;
            self.execute(other, "SELECT pg_reload_conf()")?;
        }
        self.demand_confirmation()
    }

    /// Makes a killed server a standby of the primary. Waits until it follows.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn rejoin(&mut self, node: usize) -> Result<(), NoServer> {
        self.copy(node)?;
        self.wait_for_followers(1, &format!("application_name = '{}'", node::name(node)))
    }

    /// Replaces the files of a server by a copy of the primary's, and starts it.
    fn copy(&mut self, node: usize) -> Result<(), NoServer> {
        let line = self.node(self.primary)?.followed_by(self.node(node)?);
        let node = self.node_mut(node)?;
        node.copy_from(&line)?;
        node.start()
    }

    /// Lets the primary acknowledge a commit when one standby has it. Waits until one follows.
    fn demand_confirmation(&self) -> Result<(), NoServer> {
        let names: Vec<_> = self.standbys().map(node::name).collect();
        let sql =
            format!("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ({})'", names.join(", "));
        self.execute(self.primary, &sql)?;
        self.execute(self.primary, "SELECT pg_reload_conf()")?;
        self.wait_for_followers(1, "true")
    }

    fn wait_for_followers(&self, number: usize, which: &str) -> Result<(), NoServer> {
        let sql = format!(
            "SELECT count(*) >= {number} FROM pg_stat_replication
             WHERE state = 'streaming' AND sync_state = 'quorum' AND {which}"
        );
        self.wait(self.primary, &sql)
    }

    /// Waits until a query on a server answers with true.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if it does not within half a minute.
    pub fn wait(&self, node: usize, sql: &str) -> Result<(), NoServer> {
        for _ in 0..LOOKS {
            if self.query(node, &format!("SELECT ({sql})::text"))? == "true" {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(NoServer::Failed("the cluster", format!("never true: {sql}\n{}", self.log(node))))
    }

    /// Returns what a server has logged.
    #[must_use]
    pub fn log(&self, node: usize) -> String {
        self.node(node).map(Node::log).unwrap_or_default()
    }

    /// Returns the folder with the files of all servers.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.nodes.first().map(|node| node.home().to_owned()).unwrap_or_default()
    }

    fn node(&self, node: usize) -> Result<&Node, NoServer> {
        self.nodes.get(node).ok_or_else(|| missing(node))
    }

    fn node_mut(&mut self, node: usize) -> Result<&mut Node, NoServer> {
        self.nodes.get_mut(node).ok_or_else(|| missing(node))
    }
}

fn missing(node: usize) -> NoServer {
    NoServer::Failed("the cluster", format!("it has no server {node}"))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let home = self.folder();
        self.nodes.clear();
        let _ = std::fs::remove_dir_all(home);
    }
}
