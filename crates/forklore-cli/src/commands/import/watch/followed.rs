//! The places that a watch follows, and what wakes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forklore::store::disk;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// A change is looked at when nothing more came for so long, or so long after the first.
const SETTLE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the places themselves are looked at: whether they came, went or were exchanged.
const TICK: Duration = Duration::from_secs(2);
/// How often a place is looked through whose changes the system does not tell.
const POLL: Duration = Duration::from_secs(5);
/// Of more changes than these the places are looked through instead.
const MOST: usize = 10_000;

/// What a watch does next.
pub(super) enum Next {
    /// Look at these files and folders, which may be gone.
    Look(Vec<PathBuf>),
    /// End.
    Stop,
}

/// What was told and not looked at yet.
#[derive(Default)]
struct Waiting {
    changed: BTreeSet<PathBuf>,
    since: Option<Instant>,
    missed: bool,
    stopped: bool,
}

/// Where the system's threads tell what happened.
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
            // Reading a file, as the watch itself does, changes nothing.
            Ok(Event { kind: EventKind::Access(_), .. }) => {}
            Ok(event) => self.add(event.paths),
            Err(_) => self.miss(),
        }
    }
}

/// A folder, or a single file.
struct WatchedPath {
    path: PathBuf,
    /// The folder that is followed for it, while there is one.
    folder: Option<Folder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Folder {
    /// What tells it from another of the same path.
    identity: (u64, u64),
    /// Whether the system tells its changes.
    woken: bool,
}

/// The places that are followed.
pub(super) struct Followed {
    paths: Vec<WatchedPath>,
    inbox: Arc<Inbox>,
    watcher: Option<RecommendedWatcher>,
    polled: Instant,
}

impl Followed {
    pub(super) fn new(places: &[PathBuf]) -> Self {
        let inbox = Arc::new(Inbox::default());
        let told = inbox.clone();
        let config = Config::default().with_follow_symlinks(false);
        // Without it the places are looked through every few seconds.
        let watcher = RecommendedWatcher::new(move |event| told.event(event), config).ok();
        let places = places.iter().map(|path| WatchedPath { path: path.clone(), folder: None });
        let mut followed = Self { paths: places.collect(), inbox, watcher, polled: Instant::now() };
        followed.check();
        followed
    }

    /// What ends the watch, for the thread that waits for signals.
    pub(super) fn stopper(&self) -> impl FnOnce() + Send + 'static {
        let inbox = self.inbox.clone();
        move || {
            inbox.lock().stopped = true;
            inbox.woken.notify_one();
        }
    }

    /// Has paths looked at once more.
    pub(super) fn look_again(&self, paths: &[PathBuf]) {
        self.inbox.add(paths.iter().cloned());
    }

    /// Waits until something changed, but at least for `rest`.
    pub(super) fn next(&mut self, rest: Duration) -> Next {
        let begun = Instant::now();
        let mut checked = begun;
        loop {
            let inbox = self.inbox.clone();
            let waiting = inbox.lock();
            let quiet = if waiting.since.is_some() { SETTLE } else { TICK };
            let before = waiting.changed.len();
            let (mut waiting, wait) =
                inbox.woken.wait_timeout(waiting, quiet).unwrap_or_else(PoisonError::into_inner);
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
        self.paths.iter().map(|place| place.path.clone()).filter(|path| path.exists()).collect()
    }

    /// The changes in the places. What SQLite writes beside a database is a change of it.
    fn meant(&self, changed: BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let changed: BTreeSet<_> = changed.into_iter().map(of_database).collect();
        let inside = |path: &PathBuf| self.paths.iter().any(|place| path.starts_with(&place.path));
        changed.into_iter().filter(inside).collect()
    }

    /// Follows places that came or were exchanged, and has those looked through that cannot be
    /// followed.
    fn check(&mut self) {
        let poll = self.polled.elapsed() >= POLL;
        if poll {
            self.polled = Instant::now();
        }
        let mut look = Vec::new();
        for place in &mut self.paths {
            // The system names what changed without links.
            let Ok(path) = place.path.canonicalize() else {
                place.folder = None;
                continue;
            };
            place.path = path;
            let is_file = place.path.is_file();
            let folder = if is_file { place.path.parent() } else { Some(place.path.as_path()) };
            let Some((folder, identity)) = folder.and_then(|f| Some((f, identity(f)?))) else {
                place.folder = None;
                continue;
            };
            match place.folder {
                Some(known) if known.identity == identity => {
                    if poll && !known.woken {
                        look.push(place.path.clone());
                    }
                }
                _ => {
                    let told = follow(self.watcher.as_mut(), folder, !is_file);
                    place.folder = Some(Folder { identity, woken: told });
                    look.push(place.path.clone());
                }
            }
        }
        if !look.is_empty() {
            self.inbox.add(look);
        }
    }
}

/// Asks the system to tell what changes in a folder; says whether it will.
fn follow(watcher: Option<&mut RecommendedWatcher>, folder: &Path, deep: bool) -> bool {
    // What other machines change on a network file system is told to nobody here.
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
