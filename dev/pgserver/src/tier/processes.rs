//! The processes of a node.
//!
//! They have the directory of the tier as their working directory, or one in it: PostgreSQL that of
//! its data. So they are found whoever has started them.

use std::fs;
use std::io::Result;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

const PAUSE: Duration = Duration::from_millis(20);

/// Kills all processes of a node, and those that they start meanwhile. Returns when none is left.
pub(super) fn kill(home: &Path, node: &str) -> Result<()> {
    loop {
        // Patroni must not start its PostgreSQL again.
        let mut all = patroni(home, node)?;
        all.extend(of_node(home, node)?);
        if all.is_empty() {
            return Ok(());
        }
        for pid in all {
            // One that has ended meanwhile is gone.
            let _ = kill_process(pid, Signal::KILL);
        }
        sleep(PAUSE);
    }
}

/// Stops the Patroni of a node, or lets it go on.
pub(super) fn freeze(home: &Path, node: &str, is_frozen: bool) -> Result<()> {
    let signal = if is_frozen { Signal::STOP } else { Signal::CONT };
    for pid in patroni(home, node)? {
        kill_process(pid, signal)?;
    }
    Ok(())
}

fn patroni(home: &Path, node: &str) -> Result<Vec<Pid>> {
    let is_patroni = |pid: &Pid| {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        words.windows(12).any(|window| window == b"/bin/patroni")
    };
    Ok(of_node(home, node)?.into_iter().filter(is_patroni).collect())
}

fn of_node(home: &Path, node: &str) -> Result<Vec<Pid>> {
    let own = home.join(node);
    // Patroni and etcd have the environment of the node, PgBouncer its settings.
    let (named, settings) = (format!("\0PATRONI_NAME={node}\0"), format!("{node}.ini"));
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")? {
        let path = process?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(pid) = name.parse().ok().and_then(Pid::from_raw) else { continue };
        // A process that has ended has no working directory.
        let Ok(directory) = fs::read_link(path.join("cwd")) else { continue };
        let has = |file: &str, part: &str| {
            let content = fs::read(path.join(file)).unwrap_or_default();
            content.windows(part.len()).any(|window| window == part.as_bytes())
        };
        let is_named = || has("environ", &named) || has("cmdline", &settings);
        if directory.starts_with(&own) || (directory == home && is_named()) {
            found.push(pid);
        }
    }
    Ok(found)
}
