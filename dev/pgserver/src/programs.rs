//! The programs of PostgreSQL and PgBouncer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::NoServer;

/// The environment variable with the directory that contains `initdb` and `postgres`.
pub const VARIABLE: &str = "FORKLORE_POSTGRES";

/// The environment variable with the directory that contains `initdb` and `postgres` of the newest
/// version.
pub const NEWEST: &str = "FORKLORE_POSTGRES_NEWEST";
/// The environment variable with the path of the program `pgbouncer`.
pub const POOLER: &str = "FORKLORE_PGBOUNCER";
/// The environment variable with the directory that contains `patroni` and `patronictl`.
pub const PATRONI: &str = "FORKLORE_PATRONI";
/// The environment variable with the directory that contains `etcd`.
pub const ETCD: &str = "FORKLORE_ETCD";

/// Where Debian's packages install the programs, one directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Where Debian's package installs PgBouncer.
const DEBIAN_POOLER: &str = "/usr/sbin/pgbouncer";
/// Who runs the server in the place of root, as which it refuses to run.
const USER: &str = "nobody";
const GROUP: &str = "nogroup";

/// Returns the directory with the programs: the one that is named, or the newest of Debian's.
pub(crate) fn directory() -> Result<PathBuf, NoServer> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        return if has_programs(&named) { Ok(named) } else { Err(NoServer::NotInstalled(named)) };
    }
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut found: Vec<_> = versions
        .map(|version| version.path().join("bin"))
        .filter(|path| has_programs(path))
        .collect();
    found.sort();
    found.pop().ok_or_else(|| NoServer::NotInstalled(DEBIAN.into()))
}

/// Returns the directory with the programs of the newest version.
pub(crate) fn newest() -> Result<PathBuf, NoServer> {
    let named = std::env::var_os(NEWEST).map(PathBuf::from).unwrap_or_default();
    if has_programs(&named) { Ok(named) } else { Err(NoServer::NotNamed(NEWEST, named)) }
}

/// Returns the program `pgbouncer`, or a copy in `home`; see [`runnable`].
pub(crate) fn pooler(home: &Path) -> Result<PathBuf, NoServer> {
    let program = std::env::var_os(POOLER).map_or_else(|| DEBIAN_POOLER.into(), PathBuf::from);
    if !program.is_file() {
        return Err(NoServer::NotNamed(POOLER, program));
    }
    reachable(program, 2, &home.join("pooler"))
}

/// Returns the directory with the programs of Patroni.
pub(crate) fn patroni() -> Result<PathBuf, NoServer> {
    with_program(PATRONI, "patroni")
}

/// Returns the directory with the program `etcd`.
pub(crate) fn etcd() -> Result<PathBuf, NoServer> {
    with_program(ETCD, "etcd")
}

fn with_program(variable: &'static str, name: &str) -> Result<PathBuf, NoServer> {
    let named = std::env::var_os(variable).map(PathBuf::from).unwrap_or_default();
    if named.join(name).is_file() { Ok(named) } else { Err(NoServer::NotNamed(variable, named)) }
}

fn has_programs(directory: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|name| directory.join(name).is_file())
}

/// Returns a command that runs a program as another user than root.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", USER, "--regid", GROUP, "--clear-groups", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    // Programs that were unpacked and not installed find their libraries beside them.
    let libraries = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let mut folders = program.ancestors().map(|one| one.join(&libraries));
    if let Some(libraries) = folders.find(|libraries| libraries.is_dir()) {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    command.stdin(Stdio::null());
    command
}

/// Returns a shell that runs as another user than root, and yet finds programs where only root may
/// look: the Python of root may be in root's home.
pub(crate) fn shell() -> Command {
    if !rustix::process::geteuid().is_root() {
        return command(Path::new("sh"));
    }
    let mut shell = Command::new("setpriv");
    shell.args(["--reuid", USER, "--regid", GROUP, "--clear-groups"]);
    shell.args(["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override", "--", "sh"]);
    shell.stdin(Stdio::null());
    shell
}

/// Returns a directory of the programs from which the user of [`command`] can run them: `programs`,
/// or a copy in `home` if they were unpacked where only root may look, such as in root's home.
pub(crate) fn runnable(mut programs: PathBuf, home: &Path) -> Result<PathBuf, NoServer> {
    // The programs look for their other files beside them: usr/share beside usr/lib, and in a wheel
    // the libraries beside the package.
    let levels = if programs.ends_with("pginstall/bin") { 4 } else { 5 };
    programs.push("postgres");
    let postgres = reachable(programs, levels, &home.join("usr"))?;
    Ok(postgres.parent().map(Path::to_owned).unwrap_or_default())
}

/// Returns a program that the user of [`command`] can run: `program`, or a copy of it. The copy is
/// that of the directory `levels` above it, as `copy`.
fn reachable(program: PathBuf, levels: usize, copy: &Path) -> Result<PathBuf, NoServer> {
    // The shell starts it as that user: this process may be allowed more.
    let mut version = command(Path::new("sh"));
    version.envs(command(&program).get_envs().filter_map(|(name, value)| Some((name, value?))));
    let version = version.args(["-c", "exec \"$0\" --version"]).arg(&program).output()?;
    if version.status.success() {
        return Ok(program);
    }
    let unpacked =
        program.ancestors().nth(levels).filter(|usr| usr.parent() != Some(Path::new("/")));
    let Some((usr, inside)) = unpacked.and_then(|usr| Some((usr, program.strip_prefix(usr).ok()?)))
    else {
        let message = String::from_utf8_lossy(&version.stderr).into_owned();
        return Err(NoServer::Failed("a program of the server", message));
    };
    let status =
        Command::new("cp").args(["-r", "--no-target-directory"]).arg(usr).arg(copy).status()?;
    if !status.success() {
        return Err(NoServer::Failed("cp", format!("{} cannot be copied", usr.display())));
    }
    Ok(copy.join(inside))
}

/// Makes a directory the property of the user that [`command`] runs programs as.
pub(crate) fn give(directory: &Path) -> Result<(), NoServer> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let status = Command::new("chown").arg("-R").arg(USER).arg(directory).status()?;
    if status.success() {
        return Ok(());
    }
    Err(NoServer::Failed("chown", format!("there is no user {USER}")))
}
