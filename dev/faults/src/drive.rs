//! A simulated drive under a store. Every file operation of the store passes through the drive. The
//! drive counts the operation, may make it fail as planned, and records the changes.
//!
//! There are two front ends: [`crate::vfs`] for SQLite, and [`crate::disk`] for stores that use the
//! `Fs` trait of the files store.

mod fault;
mod journal;
mod operation;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use fault::{Fault, Mode};
pub use journal::{Entry, Mark};
pub use operation::{Failure, Node, Operation, SECTOR, Shape, Verdict, reaching};

use fault::Condition;

/// An offset that is added to the node numbers (identities of files) when a recording is continued
/// on another drive. New nodes thus get numbers far from those of files that lost their names.
const NEW_NODES: u32 = 1 << 20;

/// A simulated drive on top of real files. It counts the file operations that pass through it, may
/// make one fail, and may record them.
#[derive(Debug, Default)]
pub struct Drive {
    state: Mutex<State>,
    busy: Mutex<()>,
    /// The extra time that each sync takes, in addition to that of the real disk.
    linger: Duration,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    condition: Condition,
    /// The kinds of all operations so far, in order. The index in the list is the number of the
    /// operation.
    shapes: Vec<Shape>,
    hit: Option<Shape>,
    fail_sync: bool,
    journal: Option<Vec<Entry>>,
    names: BTreeMap<PathBuf, Node>,
    nodes: u32,
}

impl Drive {
    /// Creates a simulated drive on which no operation is planned to fail.
    #[must_use]
    pub fn sound() -> Arc<Self> {
        Arc::default()
    }

    /// Creates a simulated drive on which one operation fails, as `fault` plans.
    #[must_use]
    pub fn with_fault(fault: Fault) -> Arc<Self> {
        let drive = Self::sound();
        drive.arm(fault);
        drive
    }

    /// Plans that one operation of this drive fails. The operation number in `fault` counts all
    /// operations of the drive since its creation, from 0.
    pub fn arm(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    /// Creates a simulated drive that records its operations in a journal.
    #[must_use]
    pub fn noting() -> Arc<Self> {
        let drive = Self::sound();
        drive.state().journal = Some(Vec::new());
        drive
    }

    /// Creates a drive that records its operations in a journal. Each sync takes `linger` longer,
    /// so that other threads can work during the sync.
    #[must_use]
    pub fn noting_slowly(linger: Duration) -> Arc<Self> {
        let drive = Self { linger, ..Self::default() };
        drive.state().journal = Some(Vec::new());
        Arc::new(drive)
    }

    /// Makes the next sync of a file fail with an I/O error, whatever its operation number.
    pub fn fail_next_sync(&self) {
        self.state().fail_sync = true;
    }

    /// Sleeps for the extra time that a sync of this drive takes.
    pub fn linger(&self) {
        std::thread::sleep(self.linger);
    }

    /// Creates a simulated drive that already contains files, and records its operations in a new
    /// journal. `names` are the paths and identities of these files, from an earlier drive.
    #[must_use]
    pub fn noting_on(names: BTreeMap<PathBuf, Node>) -> Arc<Self> {
        let drive = Self::noting();
        let mut state = drive.state();
        state.nodes = names.values().map(|node| node.0).max().unwrap_or(0) + NEW_NODES;
        state.names = names;
        drop(state);
        drive
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the drive until the returned guard is dropped. The caller must have the guard from
    /// before [`Self::ask`] until after [`Self::done`]. Otherwise a sync could be recorded after a
    /// write that the sync does not make durable.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a file operation that is about to run, and decides whether it runs or fails.
    pub fn ask(&self, operation: &Operation<'_>) -> Verdict {
        let mut state = self.state();
        let shape = operation.shape();
        let number = state.shapes.len();
        state.shapes.push(shape);
        if let Some(fault) = state.fault.filter(|fault| fault.at == number) {
            state.fault = None;
            state.hit = Some(shape);
            let (verdict, after) = fault.strike(operation);
            state.condition = after;
            return verdict;
        }
        if shape == Shape::Sync && std::mem::take(&mut state.fail_sync) {
            state.hit = Some(shape);
            return Verdict::Fail(Failure::Broken);
        }
        state.condition.verdict(operation)
    }

    /// Returns the identity (node) of the file at `path`, which was just opened. `made` states that
    /// the file was created; it then gets a new identity.
    pub fn opened(&self, path: &Path, made: bool) -> Node {
        if path.is_dir() {
            return Node::default();
        }
        let mut state = self.state();
        let found = state.names.get(path).copied().filter(|_| !made);
        found.unwrap_or_else(|| {
            state.nodes += 1;
            let node = Node(state.nodes);
            state.names.insert(path.to_owned(), node);
            if made {
                state.note(|| Entry::Made(path.to_owned(), node));
            } else {
                state.found(path, node);
            }
            node
        })
    }

    /// Records a file operation that was executed in the journal, and updates the drive's list of
    /// file names.
    pub fn done(&self, operation: &Operation<'_>) {
        let mut state = self.state();
        match *operation {
            Operation::Rename { from, to } => {
                if let Some(node) = state.names.remove(from) {
                    state.names.insert(to.to_owned(), node);
                    state.note(|| Entry::Renamed(from.to_owned(), to.to_owned(), node));
                }
            }
            Operation::Link { from, to } => {
                if let Some(node) = state.names.get(from).copied() {
                    state.names.insert(to.to_owned(), node);
                    state.note(|| Entry::Linked(to.to_owned(), node));
                }
            }
            Operation::Remove { path } => {
                if state.names.remove(path).is_some() {
                    state.note(|| Entry::Removed(path.to_owned()));
                }
            }
            _ => {
                if let Some(entry) = journal::entry(operation) {
                    state.note(|| entry);
                }
            }
        }
    }

    /// Records in the journal that a step of the test's workload began or was acknowledged.
    pub fn mark(&self, mark: Mark) {
        self.state().note(|| Entry::Mark(mark));
    }

    /// Returns the kind of the operation that failed as planned. Returns `None` if no operation has
    /// failed yet.
    pub fn hit(&self) -> Option<Shape> {
        self.state().hit
    }

    /// Checks whether the drive is dead: every operation fails until the drive is repaired.
    pub fn is_dead(&self) -> bool {
        self.state().condition == Condition::Dead
    }

    /// Checks whether the drive is full: every operation that needs space fails until the drive is
    /// repaired.
    pub fn is_full(&self) -> bool {
        self.state().condition == Condition::Full
    }

    /// Makes the drive work again after a failure, and removes the planned failure.
    pub fn repair(&self) {
        let mut state = self.state();
        state.condition = Condition::Sound;
        state.fault = None;
    }

    /// Returns the kinds of all file operations of this drive so far, in order.
    pub fn shapes(&self) -> Vec<Shape> {
        self.state().shapes.clone()
    }

    /// Returns the recorded journal of operations. It is empty if the drive does not record.
    pub fn journal(&self) -> Vec<Entry> {
        self.state().journal.clone().unwrap_or_default()
    }
}

impl State {
    fn note(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.journal {
            journal.push(entry());
        }
    }

    /// Records in the journal a file that was not created through the drive. The store created it
    /// by other means and is trusted to have made it durable. Also records that files that no
    /// longer exist lost their names.
    fn found(&mut self, path: &Path, node: Node) {
        let Some(journal) = &mut self.journal else { return };
        let gone: Vec<_> = self.names.keys().filter(|name| !name.exists()).cloned().collect();
        for name in gone {
            self.names.remove(&name);
            journal.push(Entry::Gone(name));
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        journal.push(Entry::Found(path.to_owned(), node, bytes));
    }
}
