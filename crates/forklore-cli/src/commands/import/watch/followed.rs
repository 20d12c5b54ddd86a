//! The folders and files that a watch follows, and the events that wake the watch.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forklore::store::disk;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// The time without a further change after which a watch processes the pending changes. If changes
/// continue to arrive, the watch processes them [`PATIENCE`] after the first change. The pause
/// after an import can delay the processing further.
const SETTLE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_millis(500);
/// The interval between checks whether the followed paths appeared, disappeared or were replaced.
const TICK: Duration = Duration::from_secs(2);
/// The interval between scans of a path whose changes the operating system does not report.
const POLL: Duration = Duration::from_secs(5);
/// The maximum number of pending changed paths. If more paths change, the watch scans all followed
/// paths instead.
const MOST: usize = 10_000;

/// The next action of a watch of session files.
pub(super) enum Next {
    /// Import these files and folders. Some of them may have been deleted.
    Look(Vec<PathBuf>),
    /// End the watch.
    Stop,
}

/// The changes of watched files that are not processed yet, and pending requests to rescan or to
/// stop.
#[derive(Default)]
struct Waiting {
    changed: BTreeSet<PathBuf>,
    since: Option<Instant>,
    missed: bool,
    stopped: bool,
}

/// An inbox of changes and requests. The file watcher's threads add the changes, and the thread of
/// a watch empties the inbox.
#[derive(Default)]
struct Inbox {
    waiting: Mutex<Waiting>,
    woken: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut waiting = self.lock();
        for path in paths {
            if waiting.changed.len() >= MOST {
                waiting.missed = true;
                break;
            }
            waiting.changed.insert(path);
        }
        waiting.since.get_or_insert_with(Instant::now);
        self.woken.notify_one();
    }

    fn miss(&self) {
        let mut waiting = self.lock();
        waiting.missed = true;
        waiting.since.get_or_insert_with(Instant::now);
        self.woken.notify_one();
    }

    fn event(&self, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => self.miss(),
            // Ignore read accesses: they change nothing, and the watch itself reads files.
            Ok(Event { kind: EventKind::Access(_), .. }) => {}
            Ok(event) => self.add(event.paths),
            Err(_) => self.miss(),
        }
    }
}

/// A folder or a single file that the watch follows.
struct WatchedPath {
    path: PathBuf,
    /// The folder to watch: the path itself, or the parent folder of a file. `None` if the path
    /// does not exist or cannot be read.
    folder: Option<Folder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Folder {
    /// Distinguishes the folder from another folder at the same path: device and inode on Unix.
    identity: (u64, u64),
    /// Whether the operating system reports changes in this watched folder.
    woken: bool,
}

/// The paths that a watch of session files follows, and their pending changes.
pub(super) struct Followed {
    paths: Vec<WatchedPath>,
    inbox: Arc<Inbox>,
    watcher: Option<RecommendedWatcher>,
    polled: Instant,
}

impl Followed {
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        let inbox = Arc::new(Inbox::default());
        let sender = inbox.clone();
        let config = Config::default().with_follow_symlinks(false);
        // If the system offers no file watcher, the paths are scanned every few seconds.
        let watcher = RecommendedWatcher::new(move |event| sender.event(event), config).ok();
        let paths = paths.iter().map(|path| WatchedPath { path: path.clone(), folder: None });
        let mut followed = Self { paths: paths.collect(), inbox, watcher, polled: Instant::now() };
        followed.check();
        followed
    }

    /// Returns a function that stops the watch. The thread that waits for signals calls this
    /// function.
    pub(super) fn stopper(&self) -> impl FnOnce() + Send + 'static {
        let inbox = self.inbox.clone();
        move || {
            inbox.lock().stopped = true;
            inbox.woken.notify_one();
        }
    }

    /// Schedules these paths for another import.
    pub(super) fn look_again(&self, paths: &[PathBuf]) {
        self.inbox.add(paths.iter().cloned());
    }

    /// Waits until there are changes to process and at least `rest` has passed since the call.
    /// Returns early if the watch is stopped.
    pub(super) fn next(&mut self, rest: Duration) -> Next {
        let begun = Instant::now();
        let mut checked = begun;
        loop {
            let inbox = self.inbox.clone();
            let waiting = inbox.lock();
            let wait = if waiting.since.is_some() { SETTLE } else { TICK };
            let before = waiting.changed.len();
            let (mut waiting, wait) =
                inbox.woken.wait_timeout(waiting, wait).unwrap_or_else(PoisonError::into_inner);
            if waiting.stopped {
                return Next::Stop;
            }
            let settled = wait.timed_out() && waiting.changed.len() == before;
            let late = waiting.since.is_some_and(|since| since.elapsed() >= PATIENCE);
            if waiting.since.is_some() && begun.elapsed() >= rest && (settled || late) {
                let Waiting { changed, missed, .. } = std::mem::take(&mut *waiting);
                drop(waiting);
                return Next::Look(if missed { self.everything() } else { self.meant(changed) });
            }
            drop(waiting);
            if checked.elapsed() >= TICK {
                checked = Instant::now();
                self.check();
            }
        }
    }

    fn everything(&self) -> Vec<PathBuf> {
        self.paths
            .iter()
            .map(|location| location.path.clone())
            .filter(|path| path.exists())
            .collect()
    }

    /// Returns the changed paths that are inside the followed paths. A change of an SQLite WAL file
    /// (`-wal`) counts as a change of the database.
    fn meant(&self, changed: BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let changed: BTreeSet<_> = changed.into_iter().map(of_database).collect();
        let inside =
            |path: &PathBuf| self.paths.iter().any(|location| path.starts_with(&location.path));
        changed.into_iter().filter(inside).collect()
    }

    /// Starts to watch each followed path that appeared or was replaced, and schedules a scan of
    /// that path. Every [`POLL`], also schedules a scan of the paths that the operating system does
    /// not watch.
    fn check(&mut self) {
        let poll = self.polled.elapsed() >= POLL;
        if poll {
            self.polled = Instant::now();
        }
        let mut look = Vec::new();
        for watched in &mut self.paths {
            // The operating system reports changed paths with symbolic links resolved.
            let Ok(path) = watched.path.canonicalize() else {
                watched.folder = None;
                continue;
            };
            watched.path = path;
            let is_file = watched.path.is_file();
            let folder = if is_file { watched.path.parent() } else { Some(watched.path.as_path()) };
            let Some((folder, identity)) = folder.and_then(|f| Some((f, identity(f)?))) else {
                watched.folder = None;
                continue;
            };
            match watched.folder {
                Some(found) if found.identity == identity => {
                    if poll && !found.woken {
                        look.push(watched.path.clone());
                    }
                }
                _ => {
                    let sender = follow(self.watcher.as_mut(), folder, !is_file);
                    watched.folder = Some(Folder { identity, woken: sender });
                    look.push(watched.path.clone());
                }
            }
        }
        if !look.is_empty() {
            self.inbox.add(look);
        }
    }
}

/// Requests that the operating system reports changes in a folder, and in its subfolders if `deep`
/// is set. Returns whether the system will report them.
fn follow(watcher: Option<&mut RecommendedWatcher>, folder: &Path, deep: bool) -> bool {
    // On a network file system, the operating system does not report changes by other machines.
    if disk::network(folder).is_some() {
        return false;
    }
    let mode = if deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    watcher.is_some_and(|watcher| watcher.watch(folder, mode).is_ok())
}

#[cfg(unix)]
fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(folder).ok()?;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<(u64, u64)> {
    fs::metadata(folder).ok().map(|_| (0, 0))
}

fn of_database(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_suffix("-wal")) {
        Some(database) => PathBuf::from(database),
        None => path,
    }
}
