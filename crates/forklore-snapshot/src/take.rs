//! Takes a snapshot of a workspace.

use std::fs::File;
use std::io::Seek;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use bstr::{BStr, BString, ByteSlice};

use crate::about::About;
use crate::index::{self, Index};
use crate::left_out::{LeftOut, Reason};
use crate::root::Root;
use crate::taking::Taking;
use crate::users_repository::{self, Base};
use crate::walk::{Kind, Listing, State, walk};
use crate::writer::{Blob, Writer};
use crate::{Error, Result, SnapshotId, Snapshots};
use crate::{capacity, objects};

/// How often a file that changes while it is read is read again.
const TRIES: usize = 3;

/// A snapshot that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id. Equal states have equal ids.
    pub id: SnapshotId,
    /// The commit that was checked out in the user's repository, if there is one.
    pub commit: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The number of files and links.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// What is not in the snapshot although it is not ignored, by path. A restore does not touch it.
    pub left_out: Vec<LeftOut>,
}

/// A workspace as it was found, and what the snapshot before it contains.
struct Take<'a> {
    snapshots: &'a Snapshots,
    root: Root,
    before: Index,
    listing: Listing,
    /// The time at which the walk began. What changed later may change again without a sign.
    began: (i64, i64),
}

impl Snapshots {
    /// Takes a snapshot of a workspace. Reads only the files that changed since the last one.
    ///
    /// # Errors
    /// If the workspace cannot be listed, git fails or is missing, or the disk is full. There is no
    /// partial snapshot: a file that cannot be read is named in [`Snapshot::left_out`].
    pub fn take(&self, workspace: &Path, taking: &Taking) -> Result<Snapshot> {
        let workspace = self.lock(workspace)?;
        self.finish(&workspace, taking)?;
        self.take_locked(workspace.path(), taking)
    }

    /// Takes a snapshot of a workspace whose lock the caller has.
    pub(crate) fn take_locked(&self, workspace: &Path, taking: &Taking) -> Result<Snapshot> {
        let began = now();
        let top = users_repository::top_of(workspace)?;
        let (base, before, listing) = std::thread::scope(|scope| {
            let base = scope.spawn(|| match &top {
                Some(top) => users_repository::base(workspace, top),
                None => Ok(Base::default()),
            });
            let before = scope.spawn(|| Index::read(&self.index_of(workspace)));
            let listing = walk(workspace, taking);
            (base.join(), before.join(), listing)
        });
        let panicked = |_| Error::Damaged { what: format!("the list of {}", workspace.display()) };
        let (base, before) = (base.map_err(panicked)??, before.map_err(panicked)?);
        let listing = listing?;
        let root = Root::open(workspace)?;
        let mut take = Take { snapshots: self, root, before, listing, began };
        let id = take.id(workspace, taking.max_size)?;
        let files = take.listing.found.iter().filter(|(_, state)| state.kind != Kind::Folder);
        Ok(Snapshot {
            id,
            commit: base.commit,
            branch: base.branch,
            files: files.clone().count() as u64,
            bytes: files.map(|(_, state)| state.size).sum(),
            left_out: take.listing.left_out,
        })
    }
}

fn now() -> (i64, i64) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The clock of the file system is some milliseconds behind.
    let since = since.saturating_sub(std::time::Duration::from_millis(50));
    (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
}

impl Take<'_> {
    /// Returns the id of the state that was found. Writes what the repository does not have.
    fn id(&mut self, workspace: &Path, max_size: Option<u64>) -> Result<SnapshotId> {
        let git = self.snapshots.git();
        let before = self.before.snapshot.filter(|&id| objects::has(git, id));
        if before.is_none() {
            self.before = Index::default();
        }
        let (changed, removed) = self.changes();
        let unchanged = changed.is_empty() && removed.is_empty();
        if let (true, true, Some(id)) = (unchanged, self.before.left_out == self.left_out(), before)
        {
            return Ok(id);
        }
        if let Some(max) = max_size {
            let files = changed.iter().filter_map(|&at| self.listing.found.get(at));
            let files = files.filter(|(_, state)| state.kind == Kind::File);
            let files = files.map(|(path, state)| (path, state.size)).collect();
            capacity::check(self.snapshots, &self.root, max, files)?;
        }
        let mut writer = Writer::start(git, before)?;
        for path in &removed {
            writer.remove(path.as_bstr());
        }
        let mut vanished = Vec::new();
        for at in changed {
            if !self.write(&mut writer, at)? {
                vanished.push(at);
            }
        }
        self.forget(&mut writer, &vanished);
        let about = About::of(&self.listing);
        let panicked = |_| Error::Damaged { what: format!("the list of {}", workspace.display()) };
        let (id, entries) = std::thread::scope(|scope| {
            // git waits for the disk.
            let entries = scope.spawn(|| index::Entries::of(&self.listing.found));
            (writer.finish(&about.to_bytes()), entries.join().map_err(panicked))
        });
        let (id, path) = (id?, self.snapshots.index_of(workspace));
        entries?.write(&path, id, &self.left_out())?;
        Ok(id)
    }

    fn left_out(&self) -> Vec<(BString, String)> {
        let left_out = self.listing.left_out.iter();
        left_out.map(|left| (left.path.clone(), left.reason.to_string())).collect()
    }

    /// Compares what was found with the snapshot before. Returns the positions of what is new or
    /// may have changed, and the paths that are gone.
    fn changes(&self) -> (Vec<usize>, Vec<BString>) {
        let (mut changed, mut removed) = (Vec::new(), Vec::new());
        let mut before = self.before.entries.iter().peekable();
        for (at, (path, state)) in self.listing.found.iter().enumerate() {
            while let Some((gone, _)) = before.next_if(|(other, _)| other < path) {
                removed.push(gone.clone());
            }
            let same = before.next_if(|(other, _)| other == path).map(|(_, other)| other);
            if same != Some(state) {
                changed.push(at);
            }
            if same.is_some_and(|other| other.kind != state.kind) {
                removed.push(path.clone());
            }
        }
        removed.extend(before.map(|(gone, _)| gone.clone()));
        (changed, removed)
    }

    /// Writes what lies at a position of the listing. Returns whether the snapshot has it.
    fn write(&mut self, writer: &mut Writer<'_>, at: usize) -> Result<bool> {
        let Some((path, state)) = self.listing.found.get_mut(at) else { return Ok(false) };
        match state.kind {
            Kind::Folder => return Ok(true),
            Kind::Link => {
                let Some(target) = self.root.target(path.as_bstr())? else { return Ok(false) };
                let blob = writer.blob(&target)?;
                writer.link(path.as_bstr(), blob);
            }
            Kind::File => {
                let Some(file) = self.root.file(path.as_bstr())? else { return Ok(false) };
                let (blob, read) = match file {
                    Ok(file) => stable(writer, path.as_bstr(), file)?,
                    Err(_) => {
                        self.leave_out(at, Reason::Unreadable);
                        return Ok(false);
                    }
                };
                if let Some(blob) = blob {
                    writer.file(path.as_bstr(), blob, read.mode & 0o100 != 0);
                }
                *state = read;
                if read.is_uncertain() {
                    self.leave_out(at, Reason::Changing);
                }
                if blob.is_none() {
                    return Ok(false);
                }
            }
        }
        // A later change in the same moment would not show: the next snapshot reads it again.
        if let Some((_, state)) = self.listing.found.get_mut(at)
            && state.changed() >= self.began
        {
            *state = state.uncertain();
        }
        Ok(true)
    }

    fn leave_out(&mut self, at: usize, reason: Reason) {
        let path = self.listing.found.get(at).map(|(path, _)| path.clone());
        self.listing.left_out.extend(path.map(|path| LeftOut { path, reason }));
    }

    /// Takes what vanished out of the listing and of the snapshot.
    fn forget(&mut self, writer: &mut Writer<'_>, vanished: &[usize]) {
        for &at in vanished.iter().rev() {
            let (path, _) = self.listing.found.remove(at);
            writer.remove(path.as_bstr());
        }
        self.listing.left_out.sort_unstable();
    }
}

/// Reads a file until it does not change meanwhile. Returns its contents and its state, which is
/// uncertain if it changed each time.
fn stable(writer: &mut Writer<'_>, path: &BStr, mut file: File) -> Result<(Option<Blob>, State)> {
    let path = path.to_path_lossy().into_owned();
    let state = |file: &File| {
        let metadata = file.metadata().map_err(Error::file("read", &path))?;
        let other = || Error::Damaged { what: format!("the type of {}", path.display()) };
        State::of(&metadata).ok_or_else(other)
    };
    let mut tries = TRIES;
    loop {
        let before = state(&file)?;
        let blob = writer.stream(&mut file, &path, before.size)?;
        let after = state(&file)?;
        if blob.is_some() && before == after {
            return Ok((blob, after));
        }
        tries -= 1;
        if tries == 0 {
            return Ok((blob, after.uncertain()));
        }
        file.rewind().map_err(Error::file("read", &path))?;
    }
}
