//! Tests of a redaction that runs while another process copies the events to redact. The payload
//! must be in no file afterwards, without a `gc` (docs/semantics.md, Redaction).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::id;
use forklore_core::Strategy;
use forklore_files::fs::Open;
use forklore_files::{FilesStore, Options};
use forklore_store::Store;
use forklore_store::port::{Change, NewOperation, OperationKind, Transaction, Write};

use crate::erasure::{SECRET, found, redaction};
use crate::scratch::{Scratch, handle};
use crate::watched::{Operation, Watch, open_watched};

/// A write that copies the events of the session `a`, and so the secret.
#[derive(Clone, Copy, Debug)]
enum Copying {
    Detach,
    RecordedDetach,
    Fork,
}

const ALL: [Copying; 3] = [Copying::Detach, Copying::RecordedDetach, Copying::Fork];

impl Copying {
    /// Describes the write, and returns the session that gets the copy.
    fn described(self, scene: &Scene<'_>) -> (Transaction, &'static str) {
        let detach = || Write::Change { session: id("shared"), change: Change::Detach };
        match self {
            Self::Detach => (detach().into(), "shared"),
            Self::RecordedDetach => {
                let operation = Some(Box::new(NewOperation::of(OperationKind::Detach)));
                (Transaction { operation, ..Transaction::from(detach()) }, "shared")
            }
            Self::Fork => {
                let new = scene.child_draft("a", "copy", 3, Strategy::ReplayV1, vec![]);
                (Write::Create(Box::new(new)).into(), "copy")
            }
        }
    }
}

/// Makes a session with the secret, and a fork of it.
fn populate(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.append("a", vec![user(SECRET)]);
    scene.fork("a", "shared", 3, vec![]);
}

/// Asserts that no file contains the secret, and that the session shows a redacted event.
fn assert_redacted(scratch: &Scratch, scene: &Scene<'_>, session: &str, when: &str) {
    assert_eq!(found(scratch), [""; 0], "{when}");
    let log = scene.log(session);
    assert_eq!(scene.store().redacted(&id(session)).unwrap(), [3], "{when}");
    let copied = log.iter().find(|entry| entry.seq == 3).unwrap();
    assert!(copied.event.data.get().starts_with("{\"redacted\":"), "{when}: {log:?}");
    scene.assert_sound();
}

fn is_copy(path: &Path) -> bool {
    path.file_name().unwrap().to_str().unwrap().contains(".prefix.jsonl.")
}

/// Removes the value, so that a watch does something only once.
fn once<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap().take()
}

/// The watch of the redacting store. Before it writes its journal, it waits until the copy is
/// complete. If `dies`, it fails at all that it does once the journal has its name.
#[derive(Debug)]
struct Redactor {
    at_journal: Mutex<Option<(Sender<()>, Receiver<()>)>>,
    dies: bool,
    is_dead: AtomicBool,
}

impl Watch for Redactor {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Open(Open::Create)
            && path.ends_with("pending.json.new")
            && let Some((reached, copied)) = once(&self.at_journal)
        {
            reached.send(()).unwrap();
            copied.recv().unwrap();
        }
        if self.is_dead.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }

    fn after(&self, operation: Operation, path: &Path) {
        if self.dies && operation == Operation::Rename && path.ends_with("pending.json") {
            self.is_dead.store(true, Ordering::Relaxed);
        }
    }
}

/// Starts the redaction on a thread of its own.
type Redact = Box<dyn FnOnce() -> JoinHandle<()> + Send>;

/// The watch of the copying store. Before it creates its first copy, it starts the redaction and
/// waits until that has found what to redact. When the copy is complete, the redaction goes on.
struct Copier {
    redact: Mutex<Option<Redact>>,
    redacting: Mutex<Option<JoinHandle<()>>>,
    reached: Mutex<Receiver<()>>,
    copied: Mutex<Option<Sender<()>>>,
}

impl std::fmt::Debug for Copier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copier").finish_non_exhaustive()
    }
}

impl Watch for Copier {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Open(Open::Create)
            && is_copy(path)
            && let Some(redact) = once(&self.redact)
        {
            *self.redacting.lock().unwrap() = Some(redact());
            self.reached.lock().unwrap().recv().unwrap();
        }
        Ok(())
    }

    fn after(&self, operation: Operation, path: &Path) {
        if operation == Operation::Sync(Open::Create)
            && is_copy(path)
            && let Some(copied) = once(&self.copied)
        {
            copied.send(()).unwrap();
        }
    }
}

/// Copies the events while a redaction has the lock, between its search and its journal.
fn copy_during_a_redaction(copying: Copying, dies: bool) {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    populate(&scene);
    let ((reached, is_reached), (copied, is_copied)) = (channel(), channel());
    let at_journal = Mutex::new(Some((reached, is_copied)));
    let redactor = Arc::new(Redactor { at_journal, dies, is_dead: AtomicBool::new(false) });
    let (redacting_store, write) = (open_watched(&scratch, &redactor), redaction(&scene, "a"));
    let redact = move || {
        std::thread::spawn(move || {
            let redacted = redacting_store.commit(write.into());
            assert_eq!(redacted.is_err(), dies, "{redacted:?}");
        })
    };
    let copier = Arc::new(Copier {
        redact: Mutex::new(Some(Box::new(redact))),
        redacting: Mutex::new(None),
        reached: Mutex::new(is_reached),
        copied: Mutex::new(Some(copied)),
    });
    let (transaction, session) = copying.described(&scene);
    open_watched(&scratch, &copier).commit(transaction).unwrap();
    once(&copier.redacting).expect("a redaction").join().unwrap();
    assert_redacted(&scratch, &scene, session, &format!("{copying:?}"));
}

#[test]
fn a_copy_that_is_made_during_a_redaction_does_not_bring_the_payload_back() {
    ALL.into_iter().for_each(|copying| copy_during_a_redaction(copying, false));
}

#[test]
fn a_copy_that_is_made_before_a_redaction_is_killed_does_not_bring_the_payload_back() {
    ALL.into_iter().for_each(|copying| copy_during_a_redaction(copying, true));
}

/// After `left` more operations of the copying store, another store redacts the events, unless the
/// store is locked.
struct AtOperation {
    left: AtomicUsize,
    root: PathBuf,
    write: Mutex<Option<Write>>,
    has_redacted: AtomicBool,
}

impl std::fmt::Debug for AtOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtOperation").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Watch for AtOperation {
    fn after(&self, _: Operation, _: &Path) {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0
            && let Some(write) = once(&self.write)
        {
            let impatient = Options { wait: Duration::ZERO, ..Options::default() };
            let redacted = FilesStore::open(&self.root, impatient).unwrap().commit(write.into());
            self.has_redacted.store(redacted.is_ok(), Ordering::Relaxed);
        }
    }
}

#[test]
fn a_redaction_at_any_moment_of_a_copy_leaves_the_payload_in_no_file() {
    for copying in ALL {
        let mut redacted = 0;
        for operation in 0.. {
            let scratch = Scratch::new();
            let store = scratch.open();
            let make = || handle(&store);
            let scene = Scene::new(&make);
            populate(&scene);
            let (transaction, session) = copying.described(&scene);
            let watch = Arc::new(AtOperation {
                left: AtomicUsize::new(usize::MAX),
                root: scratch.root(),
                write: Mutex::new(Some(redaction(&scene, "a"))),
                has_redacted: AtomicBool::new(false),
            });
            let copier = open_watched(&scratch, &watch);
            watch.left.store(operation, Ordering::Relaxed);
            copier.commit(transaction).unwrap();
            if once(&watch.write).is_some() {
                break;
            }
            if watch.has_redacted.load(Ordering::Relaxed) {
                redacted += 1;
                let when = format!("{copying:?}, operation {operation}");
                assert_redacted(&scratch, &scene, session, &when);
            }
        }
        assert!(redacted >= 8, "{copying:?}: {redacted} redactions");
    }
}
