//! The world of a test: a store with a family, a file to import, and the history of all calls.

use std::path::Path;

use forklore_faults::caller::Caller;
use forklore_faults::check::{Check, claim_open, compare_import, remains, unowned};
use forklore_faults::history::{Answer, Call, Entry, Line, entries};
use forklore_faults::kind::{Kind, Opened};
use forklore_faults::process::{Process, Task};
use forklore_faults::soak::seed;
use forklore_faults::test_folder::TestFolder;
use forklore_faults::transcript::Transcript;
use forklore_faults::work::{ONE, TRUNK};

/// The number of events in the root [`TRUNK`]: more than a copy writes in one transaction.
const PREFIX: u64 = 700;
/// The number of records in the file to import: more than an import writes in one step.
const RECORDS: usize = 5_000;

/// Creates one test per store kind for each of these functions, which take a [`Kind`].
macro_rules! for_each_store {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test(forklore_faults::kind::Kind::Sqlite);
            })+
        }

        mod files {
            $(#[test]
            fn $test() {
                super::$test(forklore_faults::kind::Kind::Files);
            })+
        }
    };
}
pub(crate) use for_each_store;

pub(crate) struct World {
    pub(crate) folder: TestFolder,
    pub(crate) history: Vec<Entry>,
    pub(crate) file: Transcript,
    number: u64,
}

impl World {
    pub(crate) fn new(kind: Kind, number: u64) -> Self {
        Self::in_folder(TestFolder::in_memory(kind), number)
    }

    /// Creates a world in a directory inside `folder`, so that it is on the same disk as `folder`.
    pub(crate) fn on(kind: Kind, number: u64, folder: &Path) -> Self {
        Self::in_folder(TestFolder::below(kind, folder), number)
    }

    fn in_folder(folder: TestFolder, number: u64) -> Self {
        let mut file = Transcript::new(folder.path());
        file.grow(RECORDS);
        let mut lines = Vec::new();
        let opened = folder.open();
        let mut caller = Caller::new(&opened, |line| lines.push(line));
        for (session, events) in [(TRUNK, PREFIX), (ONE, 1)] {
            caller.call(Call::Create {
                session: session.into(),
                parent: None,
                inheritable: 0,
                copy: false,
                events: (0..events).map(|event| format!("{session}.{event}")).collect(),
            });
        }
        drop(caller);
        Self { folder, history: entries("setup", &lines), file, number }
    }

    /// Creates a task for a worker process with this unique name.
    pub(crate) fn task(&self, name: &str, calls: u64) -> Task {
        Task {
            work: "busy".into(),
            kind: self.folder.kind(),
            store: self.folder.store_dir(),
            name: name.into(),
            seed: seed().wrapping_add(self.number << 32),
            calls,
            file: Some(self.file.path().to_owned()),
        }
    }

    /// Makes a call in this process, and records it under the process name `process`.
    pub(crate) fn call(&mut self, process: &str, opened: &Opened, call: &Call) -> Answer {
        let mut lines = Vec::new();
        let answer = Caller::new(opened, |line| lines.push(line)).call(call.clone());
        self.note(process, &lines);
        answer
    }

    /// Starts a process and waits until it has opened the store.
    pub(crate) fn start(task: &Task) -> Process {
        let mut process = Process::start(Path::new(env!("CARGO_BIN_EXE_forklore-faults")), task);
        assert_eq!(process.received::<String>().as_deref(), Some("ready"));
        process
    }

    pub(crate) fn note(&mut self, process: &str, lines: &[Line]) {
        self.history.extend(entries(process, lines));
    }

    /// Asserts that nothing blocks the names of sessions whose creation was interrupted.
    #[track_caller]
    pub(crate) fn claim_open(&mut self, opened: &Opened, by: &str) {
        let (calls, problems) = claim_open(opened, by, &self.history);
        self.history.extend(calls);
        self.assert_none(&problems);
    }

    /// Asserts that the store contains what the history requires, both before and after a garbage
    /// collection.
    #[track_caller]
    pub(crate) fn assert_sound(&mut self) {
        let opened = self.folder.open();
        self.assert_none(&Check::new(&opened, &self.history).problems());
        self.claim_open(&opened, "claim");
        self.assert_imported(&opened);
        opened.engine.gc().unwrap();
        self.assert_none(&Check::new(&opened, &self.history).problems());
    }

    /// Like [`Self::assert_sound`], but accepts errors that name an exhausted resource.
    #[track_caller]
    pub(crate) fn assert_sound_though_limited(&mut self) {
        let opened = self.folder.open();
        self.assert_none(&Check::new(&opened, &self.history).limited().problems());
        self.assert_imported(&opened);
        opened.engine.gc().unwrap();
        self.assert_none(&Check::new(&opened, &self.history).limited().problems());
    }

    #[track_caller]
    fn assert_imported(&self, opened: &Opened) {
        let compared = compare_import(&opened.engine, self.file.path());
        self.assert_none(&compared.err().into_iter().collect::<Vec<_>>());
    }

    /// Asserts that no file contains deleted data or leftovers of killed writers. Call it when
    /// interrupted copies are old enough to be collected.
    #[track_caller]
    pub(crate) fn assert_erased(&self) {
        let opened = self.folder.open();
        opened.engine.gc().unwrap();
        let remains = remains(&opened, &self.folder.store_dir(), &self.history).unwrap();
        self.assert_none(&remains);
        drop(opened);
        self.assert_none(&unowned(self.folder.kind(), &self.folder.store_dir()).unwrap());
    }

    #[track_caller]
    fn assert_none(&self, problems: &[String]) {
        let (count, seed, number) = (problems.len(), seed(), self.number);
        let first: Vec<_> = problems.iter().take(20).map(String::as_str).collect();
        let first = first.join("\n");
        assert!(count == 0, "FORKLORE_SEED={seed}, store {number}: {count} problems\n{first}");
    }
}
