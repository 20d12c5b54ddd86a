//! Work in a process that may open only few files.

use std::fs::File;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::must;
use crate::caller::Caller;
use crate::check::log;
use crate::history::Call;
use crate::process::Task;
use crate::work::{ONE, TRUNK};

/// The maximum number of files that the process may have open.
const DESCRIPTORS: u64 = 64;
const SESSIONS: u64 = 200;
const DEPTH: u64 = 20;
/// A number of free file descriptors that is always enough for the store.
const PLENTY: usize = 12;

/// Sets a low limit of open files for this process.
///
/// # Panics
/// If the limit cannot be set.
pub fn limit_descriptors() {
    let limit = Rlimit { current: Some(DESCRIPTORS), maximum: Some(DESCRIPTORS) };
    setrlimit(Resource::Nofile, limit).expect("a limit for descriptors");
}

/// Makes calls on many sessions and deep forks, none of which may be refused for lack of
/// descriptors.
///
/// # Panics
/// If a call is refused.
pub fn descriptors(caller: &mut Caller<'_>, task: &Task) {
    for number in 0..SESSIONS {
        let session = format!("s-{number}");
        must(caller, child(&session, TRUNK, 2, number % 10 == 0));
        must(caller, append(&session, 0));
    }
    let mut parent = TRUNK.to_owned();
    for depth in 0..DEPTH {
        let session = format!("d-{depth}");
        must(caller, child(&session, &parent, 2 + depth, false));
        must(caller, append(&session, 0));
        parent = session;
    }
    for number in 0..SESSIONS {
        let session = format!("s-{number}");
        must(caller, append(&session, 1));
        let log = log(caller.opened(), &session).expect("a session to read");
        assert_eq!(log.len(), 8, "{session}");
    }
    let deep = log(caller.opened(), &parent).expect("the deepest session");
    assert_eq!(deep.len() as u64, 1 + (1 + DEPTH) + 3);
    for number in (0..SESSIONS).step_by(5) {
        must(caller, Call::Detach { session: format!("s-{number}") });
        must(caller, Call::Delete { session: format!("s-{}", number + 1), refuse: true });
        let label = format!("l-{number}");
        must(caller, Call::Label { session: format!("s-{}", number + 2), label });
    }
    if let Some(file) = &task.file {
        must(caller, Call::Import { path: file.display().to_string() });
    }
    must(caller, Call::Collect);
}

/// Makes calls with 0, 1, 2, ... free file descriptors. After each of these counts, frees all
/// descriptors and makes a call that must succeed.
///
/// # Panics
/// If the store does not recover, or if an error does not state that there are too many open files.
pub fn exhausted(caller: &mut Caller<'_>, task: &Task) {
    for free in 0..PLENTY {
        let mut open_files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            open_files.push(file);
        }
        open_files.truncate(open_files.len().saturating_sub(free));
        for copy in [false, true] {
            let session = format!("x-{free}-{copy}");
            caller.call(append(ONE, 2 * free as u64 + u64::from(copy)));
            caller.call(child(&session, TRUNK, if copy { 600 } else { 3 }, copy));
            if let Some(file) = &task.file {
                caller.call(Call::Import { path: file.display().to_string() });
            }
            caller.call(Call::Delete { session: format!("s-{}", 10 * free + 3), refuse: false });
            caller.call(Call::Collect);
        }
        let opened = task.kind.open(&task.store);
        // Without a free descriptor, no store can be opened. A store that is already open may do
        // all the other work, even import a file that it contains already.
        assert!(free > 0 || opened.is_err(), "it never ran out of them");
        for error in [log(caller.opened(), ONE).err(), opened.err()].into_iter().flatten() {
            let clear = error.to_string().contains("Too many open files");
            assert!(clear, "with {free} descriptors: {error}");
        }
        drop(open_files);
        must(caller, append(ONE, 100 + free as u64));
    }
}

fn child(session: &str, parent: &str, inheritable: u64, copy: bool) -> Call {
    Call::Create {
        session: session.to_owned(),
        parent: Some(parent.to_owned()),
        inheritable,
        copy,
        events: vec![format!("{session}.first")],
    }
}

fn append(session: &str, number: u64) -> Call {
    let events = vec![format!("{session}.d{number}"), format!("{session}.d{number}+")];
    Call::Append { session: session.to_owned(), events, expect: None }
}
