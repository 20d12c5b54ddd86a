//! Lists what lies in a workspace.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bstr::{BString, ByteSlice};
use ignore::{DirEntry, WalkBuilder, WalkState};
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::left_out::{LeftOut, Reason};
use crate::taking::Taking;
use crate::{Error, Result};
use crate::{rules, users_repository};

/// How the names of the temporary files of a restore begin. No snapshot has such a file.
pub(crate) const UNFINISHED: &str = ".forklore-unfinished-";

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    File,
    Link,
    Folder,
}

/// What the file system says about a path. A file whose state is unchanged is not read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) kind: Kind,
    /// The permissions, the last 12 bits of the mode.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    device: u64,
    inode: u64,
}

impl State {
    /// Returns the state, if this is something that a snapshot can contain.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        let kind = match kind {
            _ if kind.is_file() => Kind::File,
            _ if kind.is_symlink() => Kind::Link,
            _ if kind.is_dir() => Kind::Folder,
            _ => return None,
        };
        let mode = if kind == Kind::Link { 0o777 } else { metadata.permissions().mode() & 0o7777 };
        // The size and the times of a folder change with every file in it.
        let of_file = if kind == Kind::Folder { 0 } else { 1 };
        Some(Self {
            kind,
            mode,
            size: metadata.size() * of_file,
            modified: times(metadata.mtime(), metadata.mtime_nsec(), kind),
            changed: times(metadata.ctime(), metadata.ctime_nsec(), kind),
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// Returns the state of something that is in no folder.
    pub(crate) fn of_mode(kind: Kind, mode: u32) -> Self {
        let never = (0, 0);
        Self { kind, mode, size: 0, modified: never, changed: never, device: 0, inode: 0 }
    }

    /// Returns a state that equals no state of a file: the file will be read again.
    pub(crate) fn uncertain(self) -> Self {
        Self { changed: (i64::MIN, 0), ..self }
    }

    pub(crate) fn is_uncertain(&self) -> bool {
        self.changed.0 == i64::MIN
    }

    /// Returns whether a file still has this state. The time of its last change counts only if it is
    /// certain.
    pub(crate) fn is_of(&self, stat: &rustix::fs::Stat) -> bool {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Directory => Kind::Folder,
            _ => return false,
        };
        if kind == Kind::Folder || kind != self.kind {
            return kind == self.kind;
        }
        let modified = (stat.st_mtime, stat.st_mtime_nsec.cast_signed());
        let changed = (stat.st_ctime, stat.st_ctime_nsec.cast_signed());
        let same = stat.st_ino == self.inode && stat.st_size.cast_unsigned() == self.size;
        same && modified == self.modified && (self.is_uncertain() || changed == self.changed)
    }

    /// Returns the time of the last change, in seconds and nanoseconds.
    pub(crate) fn changed(&self) -> (i64, i64) {
        self.changed
    }
}

fn times(seconds: i64, nanoseconds: i64, kind: Kind) -> (i64, i64) {
    if kind == Kind::Folder { (0, 0) } else { (seconds, nanoseconds) }
}

/// What lies in a workspace, sorted by path, and what was left out.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) found: Vec<(BString, State)>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Temporary files of a restore that was interrupted.
    pub(crate) unfinished: Vec<BString>,
}

/// Lists a workspace: what git tracks, and what is not ignored. The contents of nested repositories
/// and submodules belong to it, their `.git` does not.
pub(crate) fn walk(root: &Path, taking: &Taking) -> Result<Listing> {
    if !root.is_dir() {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(Error::File { what: "open", path: root.to_path_buf(), source });
    }
    let seen = Seen { root, taking, listing: Mutex::default(), nested: Mutex::default() };
    let top = users_repository::top_of(root)?;
    let in_git = top.is_some();
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).ignore(false).follow_links(false).threads(threads());
    builder.require_git(in_git).parents(in_git);
    let excluded = taking.without.clone();
    let unusable = Arc::new(Mutex::new(Ok(())));
    let checked = Arc::clone(&unusable);
    builder.filter_entry(move |entry| {
        let is_wanted = entry.depth() == 0 || !excluded.iter().any(|path| path == entry.path());
        is_wanted && rules::are_usable(entry, &checked)
    });
    let tracked = std::thread::scope(|scope| {
        // git needs as long as the walk.
        let tracked = scope.spawn(|| top.map(|top| users_repository::tracked(root, &top)));
        builder.build_parallel().run(|| {
            let mut mine = Found { seen: &seen, listing: Listing::default(), nested: Vec::new() };
            Box::new(move |entry| mine.add(entry))
        });
        tracked.join().map_err(|_| panicked(root))
    })?;
    drop(builder);
    std::mem::replace(&mut *unusable.lock().map_err(|_| panicked(root))?, Ok(()))?;
    let Seen { listing, nested, .. } = seen;
    let mut listing = listing.into_inner().map_err(|_| panicked(root))?;
    listing.sort();
    if let Some(tracked) = tracked {
        listing.add_tracked(root, root, &tracked?, taking);
    }
    let nested = nested.into_inner().map_err(|_| panicked(root))?;
    let is_nested = |folder: &&PathBuf| {
        *folder != root && users_repository::is_repository(&folder.join(".git"))
    };
    for repository in nested.iter().filter(is_nested) {
        match users_repository::tracked(repository, repository) {
            Ok(tracked) => listing.add_tracked(root, repository, &tracked, taking),
            // One that git does not read must not prevent that the others are recorded. Its files are
            // found without git; only what it tracks although its rules ignore it is missing.
            Err(Error::Git { .. }) => {
                let git = relative(root, &repository.join(".git"));
                listing.leave_out(git.unwrap_or_default(), Reason::Unreadable);
            }
            Err(error) => return Err(error),
        }
    }
    for path in &taking.also {
        let Ok(below) = path.to_path() else { continue };
        let metadata = root.join(below).symlink_metadata();
        listing.add(path.clone(), metadata.ok().as_ref(), taking);
    }
    listing.sort();
    listing.found.dedup_by(|(left, _), (right, _)| left == right);
    listing.left_out.sort_unstable();
    listing.left_out.dedup();
    Ok(listing)
}

/// More threads than this wait for each other.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

fn panicked(root: &Path) -> Error {
    Error::Damaged { what: format!("the list of {}", root.display()) }
}

/// What the threads of a walk have found.
struct Seen<'a> {
    root: &'a Path,
    taking: &'a Taking,
    listing: Mutex<Listing>,
    /// The folders that have a `.git`.
    nested: Mutex<Vec<PathBuf>>,
}

/// What one thread of a walk has found. The others get it when the thread ends: a lock for each
/// path would take longer than the walk.
struct Found<'a> {
    seen: &'a Seen<'a>,
    listing: Listing,
    nested: Vec<PathBuf>,
}

impl Found<'_> {
    fn add(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let root = self.seen.root;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = path_of(&error).and_then(|path| relative(root, path));
                self.listing.leave_out(path.unwrap_or_default(), Reason::Unreadable);
                return WalkState::Continue;
            }
        };
        if entry.file_name() == ".git" {
            self.nested.extend(entry.path().parent().map(Path::to_path_buf));
            return WalkState::Skip;
        }
        if let (true, Some(path)) = (entry.depth() > 0, relative(root, entry.path())) {
            let metadata = entry.path().symlink_metadata();
            self.listing.add(path, metadata.ok().as_ref(), self.seen.taking);
        }
        WalkState::Continue
    }
}

impl Drop for Found<'_> {
    fn drop(&mut self) {
        self.listing.sort();
        if let (Ok(mut listing), Ok(mut nested)) =
            (self.seen.listing.lock(), self.seen.nested.lock())
        {
            listing.append(&mut self.listing);
            nested.append(&mut self.nested);
        }
    }
}

/// Returns the path that an error names.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

/// Returns a path below a folder. Both are as the walk names them, so their bytes are compared: to
/// compare their components takes a tenth of the time of a snapshot.
fn relative(root: &Path, path: &Path) -> Option<BString> {
    let root = root.as_os_str().as_bytes();
    let below = path.as_os_str().as_bytes().strip_prefix(root)?;
    match below.strip_prefix(b"/") {
        Some(below) => Some(below.into()),
        None => (below.is_empty() || root.ends_with(b"/")).then(|| below.into()),
    }
}

impl Listing {
    fn append(&mut self, other: &mut Self) {
        self.found.append(&mut other.found);
        self.left_out.append(&mut other.left_out);
        self.unfinished.append(&mut other.unfinished);
    }

    /// Sorts what was found by path. What several threads have sorted is only merged.
    fn sort(&mut self) {
        self.found.sort_by(|(left, _), (right, _)| left.cmp(right));
    }

    fn add(&mut self, path: BString, metadata: Option<&Metadata>, taking: &Taking) {
        // It was removed after its folder was read.
        let Some(metadata) = metadata else { return };
        let name = path.rsplit_str("/").next().unwrap_or_default();
        if name.starts_with_str(UNFINISHED) {
            return self.unfinished.push(path);
        }
        if name.eq_ignore_ascii_case(b".git") {
            return self.leave_out(path, Reason::Name);
        }
        let Some(state) = State::of(metadata) else {
            let special = metadata.file_type();
            let is_socket = special.is_socket() || special.is_fifo();
            let reason = if is_socket { Reason::Channel } else { Reason::Device };
            return self.leave_out(path, reason);
        };
        if state.size > taking.largest_file {
            return self.leave_out(path, Reason::Large);
        }
        self.found.push((path, state));
    }

    fn leave_out(&mut self, path: BString, reason: Reason) {
        self.left_out.push(LeftOut { path, reason });
    }

    /// Adds the paths that a repository tracks although its rules ignore them: those that the walk
    /// did not find. What it found is sorted by path.
    fn add_tracked(&mut self, root: &Path, repository: &Path, paths: &[BString], taking: &Taking) {
        let mut folder = relative(root, repository).unwrap_or_default();
        if !folder.is_empty() {
            folder.push(b'/');
        }
        let mut found = self.found.iter().map(|(path, _)| path).peekable();
        let mut ignored = Vec::new();
        // git sorts as bytes, too.
        for path in paths {
            let path = BString::from([folder.as_slice(), path.as_slice()].concat());
            while found.next_if(|found| **found < path).is_some() {}
            if found.peek().is_none_or(|found| **found != path) {
                ignored.push(path);
            }
        }
        for path in ignored {
            let Ok(below) = path.to_path() else { continue };
            // What lies behind a link that took the place of a folder is not in the workspace.
            let above = below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            let is_inside =
                |above: &Path| root.join(above).symlink_metadata().is_ok_and(|it| it.is_dir());
            if above.into_iter().all(is_inside) {
                let metadata = root.join(below).symlink_metadata();
                self.add(path.clone(), metadata.ok().as_ref(), taking);
            }
        }
        self.sort();
    }
}
