//! The highly available tier that docs/tier.md describes: etcd, Patroni and PostgreSQL on three nodes,
//! made by the very commands of that page.

mod page;
mod processes;

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use page::Page;

use crate::NoServer;
use crate::programs::{self, command, give, runnable};

const WATCH: &str = include_str!("tier/watch.sh");
/// The ports of the page, which other programs of this machine may use.
const PORTS: [&str; 6] = ["2379", "2380", "5432", "5433", "6432", "8008"];
/// The addresses of the page without their last number, and that number of the first node.
const ADDRESSES: &str = "127.0.0.1";
const NODES: [&str; 3] = ["n1", "n2", "n3"];
const PAUSE: Duration = Duration::from_millis(500);
/// How long a tier may take for what a test waits for.
const PATIENCE: Duration = Duration::from_secs(600);

/// A tier of three nodes. Each is an etcd, a Patroni and a PostgreSQL on an address of its own.
///
/// All their processes end, and their files are removed, when this value is dropped or its process
/// ends.
#[derive(Debug)]
pub struct Tier {
    home: PathBuf,
    page: Page,
    path: String,
    libraries: String,
    /// The script that ends the tier when its standard input is closed.
    watch: Child,
}

impl Tier {
    /// Follows the section "A highly available tier" of a page until there is a database `team`.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn start(page: &str) -> Result<Self, NoServer> {
        let id = uuid::Uuid::new_v4();
        let [a, b, ..] = *id.as_bytes();
        let home = std::env::temp_dir().join(format!("forklore-tier-{}", id.simple()));
        fs::create_dir(&home)?;
        let watch = Command::new("sh")
            .args(["-c", WATCH, "forklore-tier"])
            .arg(&home)
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()?;
        give(&home)?;
        // Nobody else invents these addresses, so their ports stay free while a node is down.
        let addresses = format!("127.{}.{b}.1", a.max(1));
        let mut page = Page::new(page);
        page.replace(ADDRESSES, &addresses);
        for port in PORTS {
            page.replace(port, &free(&format!("{addresses}1"))?);
        }
        let (path, libraries) = programs_of(&home)?;
        let tier = Self { home, page, path, libraries, watch };
        for title in ["2. Configure", "3. Start"] {
            tier.follow(title, "")?;
        }
        tier.wait_for_standbys(2)?;
        tier.follow("5. Create the database", "")?;
        Ok(tier)
    }

    /// Executes the commands under a heading of the page, in the directory of the tier. `before` is
    /// executed first. Returns what they print.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if one of them fails.
    pub fn follow(&self, title: &str, before: &str) -> Result<String, NoServer> {
        self.run(&format!("{before}\n{}", self.page.commands(title)?))
    }

    /// Executes commands of a shell in the directory of the tier, with its secrets. The names of
    /// ports and addresses are those of the page. Returns what they print.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if one of them fails.
    pub fn execute(&self, commands: &str) -> Result<String, NoServer> {
        self.run(&self.page.replaced(commands))
    }

    fn run(&self, commands: &str) -> Result<String, NoServer> {
        let environment = "set -e
            if [ -e secret.env ]; then set -a; . ./cluster.env; . ./secret.env; set +a; fi";
        let errors = self.home.join("errors.log");
        let mut shell = programs::shell();
        shell.args(["-c", &format!("{environment}\n{commands}")]);
        shell.current_dir(&self.home).env("PATH", &self.path).env("HOME", &self.home);
        // Whoever uses the tier has a password in the environment, which Patroni must not take for its
        // own.
        shell.env("PGPASSWORD", "of a user");
        if !self.libraries.is_empty() {
            shell.env("LD_LIBRARY_PATH", &self.libraries);
        }
        let shell = shell.stderr(File::create(&errors)?).stdout(Stdio::piped()).spawn()?;
        let done = shell.wait_with_output()?;
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        if done.status.success() {
            return Ok(printed);
        }
        let errors = fs::read_to_string(errors).unwrap_or_default();
        Err(NoServer::Failed("the tier", format!("{commands}\n{printed}{errors}\n{}", self.log())))
    }

    /// Returns the URL of the store of the page, which names all nodes.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if the page has no such URL.
    pub fn url(&self) -> Result<String, NoServer> {
        self.with_password(&self.page.url("6. Use it")?)
    }

    /// Starts the poolers of the page. Returns the URL of the store behind them.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn pooled(&self) -> Result<String, NoServer> {
        self.follow("With PgBouncer", "")?;
        self.with_password(&self.page.url("With PgBouncer")?)
    }

    /// Adds the password of the store to a URL without one, with the ports and addresses of the page.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if the tier has no password.
    pub fn with_password(&self, url: &str) -> Result<String, NoServer> {
        let password = self.execute("printf %s \"$TEAM_PASSWORD\"")?;
        Ok(self.page.replaced(url).replacen("forklore@", &format!("forklore:{password}@"), 1))
    }

    /// Returns the name of the node that Patroni calls the leader; `None` if there is none now.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if Patroni does not answer.
    pub fn leader(&self) -> Result<Option<String>, NoServer> {
        Ok(self.members()?.into_iter().find(|member| member.role == "Leader").map(|one| one.name))
    }

    /// Waits until so many standbys follow the leader and may confirm its commits.
    ///
    /// # Errors
    /// [`NoServer::Failed`] if they do not within four minutes.
    pub fn wait_for_standbys(&self, number: usize) -> Result<(), NoServer> {
        self.wait("standbys that follow", || {
            let members = self.members().unwrap_or_default();
            let following =
                |member: &&Member| member.role == "Quorum Standby" && member.state == "streaming";
            let has_leader =
                members.iter().any(|one| one.role == "Leader" && one.state == "running");
            Ok(has_leader && members.iter().filter(following).count() >= number)
        })
    }

    /// Waits until a condition holds.
    ///
    /// # Errors
    /// [`NoServer::Failed`] with the logs if it does not within ten minutes, and its own errors.
    pub fn wait(
        &self,
        what: &str,
        mut holds: impl FnMut() -> Result<bool, NoServer>,
    ) -> Result<(), NoServer> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if holds()? {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(NoServer::Failed("the tier", format!("it has never {what}\n{}", self.log())))
    }

    fn members(&self) -> Result<Vec<Member>, NoServer> {
        let table = self.execute("patronictl -c patroni.yml list --format tsv")?;
        let member = |line: &str| {
            let mut cells = line.split('\t').skip(1).map(str::to_owned);
            let (name, _, role, state) =
                (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
            Some(Member { name, role, state })
        };
        Ok(table.lines().skip(1).filter_map(member).collect())
    }

    /// Kills all processes of a node, as if its machine had lost its power.
    ///
    /// # Errors
    /// [`NoServer::Io`] if its processes cannot be found.
    pub fn kill(&self, node: &str) -> Result<(), NoServer> {
        Ok(processes::kill(&self.home, node)?)
    }

    /// Stops the Patroni of a node, or lets it go on: it hangs, and its PostgreSQL does not.
    ///
    /// # Errors
    /// [`NoServer::Io`] if it cannot be found.
    pub fn freeze(&self, node: &str, is_frozen: bool) -> Result<(), NoServer> {
        Ok(processes::freeze(&self.home, node, is_frozen)?)
    }

    /// Starts a node that was killed, with the command of the page.
    ///
    /// # Errors
    /// See [`NoServer`].
    pub fn restart(&self, node: &str) -> Result<(), NoServer> {
        let commands = self.page.commands("3. Start")?;
        self.run(&commands.replace(&NODES.join(" "), node)).map(drop)
    }

    /// Returns the end of what Patroni and PostgreSQL have logged on each node.
    #[must_use]
    pub fn log(&self) -> String {
        let mut all = String::new();
        for node in NODES {
            let log = fs::read_to_string(self.home.join(node).join("patroni.log"));
            let lines: Vec<_> = log.iter().flat_map(|log| log.lines()).collect();
            let last = lines.len().saturating_sub(15);
            let last = lines.get(last..).unwrap_or_default();
            all.push_str(&format!("{node}:\n{}\n", last.join("\n")));
        }
        all
    }
}

/// A line of the answer of `patronictl list`.
struct Member {
    name: String,
    role: String,
    state: String,
}

/// Returns the directories of the programs of a tier, and of libraries that only they have.
fn programs_of(home: &Path) -> Result<(String, String), NoServer> {
    let postgres = runnable(programs::directory()?, home)?;
    let pooler = programs::pooler(home)?;
    let libraries_of = |program: &Path| {
        let command = command(program);
        let (_, path) = command.get_envs().find(|(name, _)| *name == "LD_LIBRARY_PATH")?;
        // Those of the system would be in front of those that Python has of its own.
        path.map(PathBuf::from).filter(|path| !path.starts_with("/usr/lib"))
    };
    let libraries =
        [libraries_of(&postgres.join("postgres")), libraries_of(&pooler)].into_iter().flatten();
    let libraries = std::env::join_paths(libraries).unwrap_or_default();
    let mut path = vec![postgres, programs::patroni()?, programs::etcd()?];
    path.extend(pooler.parent().map(Path::to_owned));
    path.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let path = std::env::join_paths(path).unwrap_or_default();
    let text = |joined: std::ffi::OsString| joined.to_string_lossy().into_owned();
    Ok((text(path), text(libraries)))
}

/// Returns a port that is free at an address, and in which no port of the page is found.
fn free(address: &str) -> Result<String, NoServer> {
    let invalid = |_| NoServer::Failed("the tier", format!("{address} is no address"));
    let address: Ipv4Addr = address.parse().map_err(invalid)?;
    loop {
        let port = TcpListener::bind((address, 0))?.local_addr()?.port().to_string();
        if !PORTS.iter().any(|other| port.contains(other)) {
            return Ok(port);
        }
    }
}

impl Drop for Tier {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}
