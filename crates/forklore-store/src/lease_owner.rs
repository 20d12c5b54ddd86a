//! The name under which a runtime acquires leases. It shows people who the owner is. It also shows
//! another runtime on the same machine whether the owner's process is gone. Therefore nobody has to
//! wait until the lease of a killed process expires.
//!
//! An owner counts as gone only if there is no doubt. First, the checking process must run in the
//! same boot of the machine and in the same namespaces as the owner. Only then does a process id
//! mean the same process. Second, either no process may have the owner's process id, or the process
//! with this id must have started at another time than the owner. Only Linux provides all of these
//! facts. On other systems, another runtime must wait until the lease expires.

use std::process;

/// Returns a name under which this process can acquire leases. The name contains `application`, the
/// id of this process and `unique`. The caller chooses a new text for `unique` each time, so that
/// no other runtime has the same name.
#[must_use]
pub fn name(application: &str, unique: &str) -> String {
    name_of(application, unique, process::id())
}

/// Returns the name that [`name`] would return in the process with this id.
#[must_use]
pub fn name_of(application: &str, unique: &str, id: u32) -> String {
    let readable = format!("{application} (process {id}, {unique})");
    let began = system::here().zip(system::began(id));
    match began {
        Some((here, began)) => format!("{readable} [{here}, process {id} began {began}]"),
        None => readable,
    }
}

/// Returns the part of a lease owner's name that is meant for people.
#[must_use]
pub fn readable(name: &str) -> &str {
    parts(name).map_or(name, |(readable, _)| readable)
}

/// Checks whether the process of the lease owner with this name is certainly gone. Returns `false`
/// if there is any doubt.
#[must_use]
pub fn is_gone(name: &str) -> bool {
    let Some((_, process)) = parts(name) else { return false };
    let Some(here) = system::here() else { return false };
    let process = process.strip_prefix(&here).and_then(|rest| rest.strip_prefix(", process "));
    let Some((id, began)) = process.and_then(|process| process.split_once(" began ")) else {
        return false;
    };
    id.parse().is_ok_and(|id| system::is_gone(id, began))
}

fn parts(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.rsplit_once(" [")
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::io::ErrorKind;

    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    /// Returns a text that identifies the current boot of this machine. The text also identifies
    /// the namespaces in which process ids and start times are valid. Returns `None` if the system
    /// does not provide these facts.
    pub(super) fn here() -> Option<String> {
        let read = |path| fs::read_to_string(path).ok();
        let boot = read("/proc/sys/kernel/random/boot_id")?;
        let host = read("/proc/sys/kernel/hostname")?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
        let host: String = host.trim().chars().map(plain).collect();
        let namespace = |kind: &str| {
            let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
            let number = link.to_str()?.split_once('[')?.1.strip_suffix(']')?;
            Some(number.to_owned())
        };
        // `/proc` may belong to another process namespace. Its process ids are then useless.
        let status = read("/proc/self/status")?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        if numbers.trim() != std::process::id().to_string() {
            return None;
        }
        let pids = namespace("pid")?;
        // On a system without time namespaces, start times mean the same to all processes.
        let times = namespace("time").unwrap_or_else(|| "none".to_owned());
        Some(format!("on {host}, boot {}, namespaces {pids} {times}", boot.trim()))
    }

    /// Returns the start time of a process, in clock ticks since the boot. Returns `None` if
    /// `/proc` does not show the process.
    pub(super) fn began(id: u32) -> Option<String> {
        Some(Stat::of(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?.began.to_owned())
    }

    pub(super) fn is_gone(id: u32, began: &str) -> bool {
        match fs::read_to_string(format!("/proc/{id}/stat")) {
            Ok(stat) => Stat::of(&stat).is_some_and(|now| now.began != began || now.is_dead()),
            // `/proc` may hide the processes of other users. Signal 0 reveals whether such a
            // process exists.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let id = i32::try_from(id).ok().and_then(Pid::from_raw);
                id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
            }
            Err(_) => false,
        }
    }

    /// The fields of `/proc/PID/stat` that show whether a process has ended and when it started.
    struct Stat<'a> {
        state: &'a str,
        threads: &'a str,
        began: &'a str,
    }

    impl<'a> Stat<'a> {
        fn of(stat: &'a str) -> Option<Self> {
            // The program's name is in parentheses and may contain any character, such as `)`.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
            // These are fields 3, 20 and 22 of proc(5).
            Some(Self { state: fields.next()?, threads: fields.nth(16)?, began: fields.nth(1)? })
        }

        /// Checks whether the process has ended. A zombie, which its parent has not waited for, has
        /// ended too. A process whose main thread has ended while other threads run looks like a
        /// zombie. Therefore the number of threads is checked too.
        fn is_dead(&self) -> bool {
            matches!(self.state, "X" | "x")
                || self.state == "Z" && matches!(self.threads, "0" | "1")
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn here() -> Option<String> {
        None
    }

    pub(super) fn began(_: u32) -> Option<String> {
        None
    }

    pub(super) fn is_gone(_: u32, _: &str) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeping() -> Child {
        Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap()
    }

    /// Returns the lease owner's name that a runtime in the process `child` would have.
    fn owner(child: &Child) -> String {
        name_of("other", "u", child.id())
    }

    #[test]
    fn a_name_is_readable_and_that_of_a_living_process() {
        let name = name("forklore chat", "u1");
        let id = process::id();
        assert_eq!(readable(&name), format!("forklore chat (process {id}, u1)"));
        assert!(!is_gone(&name), "{name}");
        assert_eq!(readable("run [1]"), "run");
        assert_eq!(readable("somebody"), "somebody");
    }

    #[test]
    fn a_killed_process_is_gone_before_anybody_reaped_it() {
        let mut child = sleeping();
        let name = owner(&child);
        assert!(!is_gone(&name), "{name}");
        child.kill().unwrap();
        let stat = format!("/proc/{}/stat", child.id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
            std::thread::yield_now();
        }
        assert!(is_gone(&name), "{name}");
        child.wait().unwrap();
        assert!(is_gone(&name), "{name}");
    }

    #[test]
    fn another_process_of_the_same_number_is_not_the_holder() {
        let mut child = sleeping();
        let name = owner(&child);
        let (before, began) = name.rsplit_once(' ').unwrap();
        let began: u64 = began.strip_suffix(']').unwrap().parse().unwrap();
        assert!(is_gone(&format!("{before} {}]", began - 1)));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn where_there_is_doubt_nobody_is_gone() {
        let mut child = sleeping();
        let name = owner(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&name));
        let here = system::here().unwrap();
        let (host, rest) = here.split_once(", boot ").unwrap();
        let (boot, namespaces) = rest.split_once(", namespaces ").unwrap();
        let (pids, times) = namespaces.split_once(' ').unwrap();
        for (part, other) in [(host, "on elsewhere"), (boot, "0-0"), (pids, "1"), (times, "2")] {
            let elsewhere = name.replacen(part, other, 1);
            assert_ne!(elsewhere, name);
            assert!(!is_gone(&elsewhere), "{elsewhere}");
        }
        let unknown = ["", "somebody", "test (process 1, u)", "x []", "x [, process 1 began 2]"];
        for name in unknown {
            assert!(!is_gone(name), "{name}");
        }
        let hostile = format!("x [{here}, process -1 began 5]");
        assert!(!is_gone(&hostile));
    }
}
