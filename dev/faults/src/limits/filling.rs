//! Fills a store repeatedly until the store refuses to write.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;

use super::must;
use crate::caller::Caller;
use crate::history::Call;
use crate::process::Task;
use crate::work::{ONE, TRUNK};

/// The disk space that remains free while the disk is filled up, in bytes. The rest is occupied by
/// one large file, the ballast.
const LEFT: u64 = 1 << 20;
/// How many bytes larger than the currently largest file any file may become.
const SLACK: u64 = 300_000;
/// The maximum number of batches to append until the store is full. It is far more than fit.
const ENOUGH: u64 = 10_000;

/// A resource, such as disk space, that a test makes scarce and later releases.
trait Space {
    fn take(&mut self);
    fn give_back(&mut self);
}

/// Fills the disk of the store until writes fail, and frees it again. Repeats this as many times as
/// the task has calls.
pub fn fill_disk(caller: &mut Caller<'_>, task: &Task) {
    let ballast = task.store.parent().unwrap_or(Path::new("/")).join("ballast");
    cycles(caller, task, &mut Disk(ballast));
}

/// Limits the size of the files that this process may write. Removes the limit again after writes
/// to the store failed. Repeats this as many times as the task has calls.
///
/// # Panics
/// If the limit cannot be set.
pub fn fill_files(caller: &mut Caller<'_>, task: &Task) {
    // Without a handler, the first write beyond the limit would end the process.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).expect("a signal");
    cycles(caller, task, &mut FileSize(task.store.clone()));
}

fn cycles(caller: &mut Caller<'_>, task: &Task, available: &mut dyn Space) {
    for cycle in 0..task.calls {
        let session = format!("fill-{cycle}");
        must(caller, create(&session, None, 0, false));
        available.take();
        let full = fill(caller, &session);
        assert!(full > 0, "there was no room at all in cycle {cycle}");
        everything_else(caller, task, cycle);
        let log = crate::check::log(caller.opened(), &session).expect("a session to read");
        assert!(log.len() as u64 > 3 * full, "a full store is not read to its end");
        available.give_back();
        must(caller, append(&session, ENOUGH));
        must(caller, Call::Delete { session: session.clone(), refuse: true });
        must(caller, Call::Collect);
    }
}

/// Appends to `session` until the store refuses, and returns the number of batches that fitted.
fn fill(caller: &mut Caller<'_>, session: &str) -> u64 {
    let refused = |number: &u64| !caller.call(append(session, *number)).is_done();
    (0..ENOUGH).find(refused).expect("a store that is full some time")
}

/// Makes calls other than appends to the new session while the store has no space. The checks at
/// the end of the test require that each call was executed completely or not at all.
fn everything_else(caller: &mut Caller<'_>, task: &Task, cycle: u64) {
    let (share, copy) = (format!("share-{cycle}"), format!("copy-{cycle}"));
    if caller.call(create(&share, Some(TRUNK), 3, false)).is_done() {
        caller.call(Call::Label { session: share, label: format!("l-{cycle}") });
    }
    caller.call(create(&copy, Some(TRUNK), 600, true));
    caller.call(append(ONE, cycle));
    if let Some(file) = task.file.as_ref().filter(|_| cycle.is_multiple_of(5)) {
        caller.call(Call::Import { path: file.display().to_string() });
    }
}

fn create(session: &str, parent: Option<&str>, inheritable: u64, copy: bool) -> Call {
    Call::Create {
        session: session.to_owned(),
        parent: parent.map(str::to_owned),
        inheritable,
        copy,
        events: vec![format!("{session}.first")],
    }
}

fn append(session: &str, number: u64) -> Call {
    let events = (0..3).map(|at| format!("{session}.{number}.{at}")).collect();
    Call::Append { session: session.to_owned(), events, expect: None }
}

/// The path of the large file, the ballast, that fills up the disk.
struct Disk(PathBuf);

impl Space for Disk {
    fn take(&mut self) {
        let mut file = File::create(&self.0).expect("a file in the way");
        let disk = rustix::fs::fstatvfs(&file).expect("what is free");
        let free = disk.f_bfree * disk.f_frsize;
        let ballast = vec![1; usize::try_from(free.saturating_sub(LEFT)).expect("a small disk")];
        file.write_all(&ballast).expect("room for what is in the way");
    }

    fn give_back(&mut self) {
        std::fs::remove_file(&self.0).expect("a file that was in the way");
    }
}

/// A directory of a store. The size of its largest file determines the file size to which this
/// process is limited.
struct FileSize(PathBuf);

impl Space for FileSize {
    fn take(&mut self) {
        limit_files(Some(longest(&self.0) + SLACK));
    }

    fn give_back(&mut self) {
        limit_files(None);
    }
}

fn limit_files(current: Option<u64>) {
    let limit = Rlimit { current, maximum: None };
    setrlimit(Resource::Fsize, limit).expect("a limit for the length of files");
}

fn longest(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let lengths = files.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => longest(&entry.path()),
        found => found.map_or(0, |found| found.len()),
    });
    lengths.max().unwrap_or(0)
}
