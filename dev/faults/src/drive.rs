//! The drive under a store: every operation of the store on files passes it, is counted, may fail
//! as planned, and is noted down with what it wrote.
//!
//! Two doors lead to it: [`crate::vfs`] for SQLite, [`crate::disk`] for stores that go through
//! the `Fs` of the files store.

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

/// Far from the numbers of files that lost their names.
const NEW_NODES: u32 = 1 << 20;

/// A drive, over real files.
#[derive(Debug, Default)]
pub struct Drive {
    state: Mutex<State>,
    busy: Mutex<()>,
    /// How long a sync takes beside what it does.
    linger: Duration,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    condition: Condition,
    /// The operations so far.
    shapes: Vec<Shape>,
    hit: Option<Shape>,
    fail_sync: bool,
    journal: Option<Vec<Entry>>,
    names: BTreeMap<PathBuf, Node>,
    nodes: u32,
}

impl Drive {
    /// A drive on which nothing fails.
    #[must_use]
    pub fn sound() -> Arc<Self> {
        Arc::default()
    }

    /// A drive that is about to fail.
    #[must_use]
    pub fn with_fault(fault: Fault) -> Arc<Self> {
        let drive = Self::sound();
        drive.arm(fault);
        drive
    }

    /// Lets an operation fail, whose number counts all there were on this drive.
    pub fn arm(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    /// A drive that notes everything down.
    #[must_use]
    pub fn noting() -> Arc<Self> {
        let drive = Self::sound();
        drive.state().journal = Some(Vec::new());
        drive
    }

    /// The same, where what else happens has the time to happen while a sync ends.
    #[must_use]
    pub fn noting_slowly(linger: Duration) -> Arc<Self> {
        let drive = Self { linger, ..Self::default() };
        drive.state().journal = Some(Vec::new());
        Arc::new(drive)
    }

    /// Lets the next sync of a file fail, whichever operation that is.
    pub fn fail_next_sync(&self) {
        self.state().fail_sync = true;
    }

    /// Waits as long as a sync of this drive takes.
    pub fn linger(&self) {
        std::thread::sleep(self.linger);
    }

    /// A drive that notes down what follows on what another noted, under these names.
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

    /// Waits for the operation of another thread to end. From before an operation is asked for
    /// until it is noted down there is no other one: else a sync could be noted behind a write that
    /// it does not make durable.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what becomes of an operation that is about to be done.
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

    /// The file that was opened at `path`, or made there.
    pub fn opened(&self, path: &Path, made: bool) -> Node {
        if path.is_dir() {
            return Node::default();
        }
        let mut state = self.state();
        let known = state.names.get(path).copied().filter(|_| !made);
        known.unwrap_or_else(|| {
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

    /// Notes an operation that was done.
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

    /// Notes where the work on the store is.
    pub fn mark(&self, mark: Mark) {
        self.state().note(|| Entry::Mark(mark));
    }

    /// What struck, if it did.
    pub fn hit(&self) -> Option<Shape> {
        self.state().hit
    }

    /// Whether nothing works until the drive is repaired.
    pub fn is_dead(&self) -> bool {
        self.state().condition == Condition::Dead
    }

    /// Whether there is no room until some is made.
    pub fn is_full(&self) -> bool {
        self.state().condition == Condition::Full
    }

    /// Makes it work again.
    pub fn repair(&self) {
        let mut state = self.state();
        state.condition = Condition::Sound;
        state.fault = None;
    }

    /// The operations so far.
    pub fn shapes(&self) -> Vec<Shape> {
        self.state().shapes.clone()
    }

    /// What was noted down.
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

    /// A file is there that did not come to its name through the drive: the store put it there
    /// itself, and is trusted to have made it durable; the name it had before is gone.
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
