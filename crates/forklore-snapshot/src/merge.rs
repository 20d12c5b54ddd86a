//! Merges two states that began with a common one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use bstr::{BString, ByteSlice};
use tempfile::TempDir;

use crate::about::About;
use crate::git::{Git, not_started};
use crate::objects::Entry;
use crate::walk::{Kind, Listing, State};
use crate::writer::Writer;
use crate::{Error, Result, SnapshotId, Snapshots, objects};

/// The names of the two states, as conflict markers show them.
const OURS: &str = "yours";
const THEIRS: &str = "brought";

const COMMAND: &str = "merge-tree";
/// How the names of scratch folders begin.
const PREFIX: &str = "merge-";

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The snapshot with the changes of both. Files in conflict have git's conflict markers, and
    /// binary files are ours.
    pub id: SnapshotId,
    /// The paths that both changed in a different way, in order.
    pub conflicts: Vec<BString>,
}

impl Snapshots {
    /// Merges two snapshots: what each changed since a common one. No workspace is touched.
    ///
    /// # Errors
    /// If a snapshot is missing or git fails.
    pub fn merge(&self, base: SnapshotId, ours: SnapshotId, theirs: SnapshotId) -> Result<Merged> {
        let _shared = self.share()?;
        let git = self.git();
        let side = |id| Side::read(git, id);
        let (old, our, their) = (side(base)?, side(ours)?, side(theirs)?);
        let Answer { tree, conflicts } = answer(git, base, ours, theirs)?;
        let about = merged(&old, &our, &their, &objects::entries_of_tree(git, &tree)?);
        let mut writer = Writer::start(git, None)?;
        if tree != SnapshotId::EMPTY_TREE {
            writer.files(tree);
        }
        Ok(Merged { id: writer.finish(&about.to_bytes())?, conflicts })
    }
}

/// One of the three states.
struct Side {
    about: About,
    entries: BTreeMap<BString, Entry>,
    folders: BTreeSet<BString>,
}

impl Side {
    fn read(git: &Git, id: SnapshotId) -> Result<Self> {
        let about = objects::about(git, id)?;
        let entries = objects::entries(git, id)?;
        let mut folders = parents(&entries);
        folders.extend(about.folders.keys().cloned());
        Ok(Self { about, entries, folders })
    }

    /// Returns the permissions of a file, if there is one at a path.
    fn file(&self, path: &BString) -> Option<u32> {
        let entry = self.entries.get(path).filter(|entry| !entry.is_link)?;
        Some(self.about.mode(path, entry.executable))
    }

    /// Returns the permissions of a folder, if there is one at a path.
    fn folder(&self, path: &BString) -> Option<u32> {
        self.folders.contains(path).then(|| self.about.folder_mode(path))
    }
}

/// Returns the folders in which files are.
fn parents(entries: &BTreeMap<BString, Entry>) -> BTreeSet<BString> {
    let mut folders = BTreeSet::new();
    for path in entries.keys() {
        let mut path = path.as_bstr();
        while let Some(end) = path.rfind_byte(b'/') {
            path = path.get(..end).unwrap_or_default().as_bstr();
            if !folders.insert(path.to_owned()) {
                break;
            }
        }
    }
    folders
}

/// Merges permissions and empty folders. Where both changed them, theirs count.
fn merged(base: &Side, ours: &Side, theirs: &Side, files: &BTreeMap<BString, Entry>) -> About {
    let of = |get: fn(&Side, &BString) -> Option<u32>, path: &BString| {
        let (base, ours, theirs) = (get(base, path), get(ours, path), get(theirs, path));
        if theirs == base { ours } else { theirs }
    };
    let any = |get: fn(&Side, &BString) -> Option<u32>, path: &BString| {
        of(get, path).or_else(|| get(ours, path)).or_else(|| get(theirs, path))
    };
    let mut listing = Listing::default();
    for (path, entry) in files {
        let usual = if entry.executable { 0o755 } else { 0o644 };
        let state = match entry.is_link {
            true => State::of_mode(Kind::Link, 0o777),
            false => State::of_mode(Kind::File, any(Side::file, path).unwrap_or(usual)),
        };
        listing.found.push((path.clone(), state));
    }
    let with_files = parents(files);
    for path in with_files.iter().chain(&ours.folders).chain(&theirs.folders) {
        let mode = match with_files.contains(path) {
            true => Some(any(Side::folder, path).unwrap_or(0o755)),
            // Where a file is now, no folder is.
            false => of(Side::folder, path).filter(|_| !files.contains_key(path)),
        };
        let folder = mode.map(|mode| (path.clone(), State::of_mode(Kind::Folder, mode)));
        listing.found.extend(folder);
    }
    listing.found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    listing.found.dedup_by(|(left, _), (right, _)| left == right);
    listing.left_out = [&ours.about.left_out[..], &theirs.about.left_out[..]].concat();
    listing.left_out.sort_unstable();
    listing.left_out.dedup();
    About::of(&listing)
}

/// The answer of git.
struct Answer {
    /// The id of the tree of files.
    tree: String,
    conflicts: Vec<BString>,
}

/// Lets git merge the files of three snapshots.
fn answer(git: &Git, base: SnapshotId, ours: SnapshotId, theirs: SnapshotId) -> Result<Answer> {
    let scratch = Scratch::new(git)?;
    let base = scratch.commit(base, None)?;
    scratch.branch(OURS, &scratch.commit(ours, Some(&base))?)?;
    scratch.branch(THEIRS, &scratch.commit(theirs, Some(&base))?)?;
    let mut command = scratch.command(COMMAND);
    command.args(["--write-tree", "-z", "--no-messages", OURS, THEIRS]);
    let done = command.output().map_err(|source| not_started(source, git.folder()))?;
    // 1 means conflicts.
    if !matches!(done.status.code(), Some(0 | 1)) {
        return Err(git.failed(COMMAND, &done.stderr));
    }
    let mut fields = done.stdout.split_str("\0").filter(|field| !field.is_empty());
    let unknown = |field: &[u8]| Error::Answer { command: COMMAND, answer: field.into() };
    let tree = fields.next().filter(|tree| tree.len() == 40).ok_or_else(|| unknown(b""))?;
    // Each is `100644 ID STAGE<tab>PATH`; a path has up to three stages.
    let paths = fields.map(|field| {
        let path = field.split_once_str("\t").map(|(_, path)| BString::from(path));
        path.ok_or_else(|| unknown(field))
    });
    let mut conflicts = paths.collect::<Result<Vec<_>>>()?;
    conflicts.sort_unstable();
    conflicts.dedup();
    Ok(Answer { tree: tree.to_str_lossy().into_owned(), conflicts })
}

/// Removes the scratch folders of merges that were killed.
pub(crate) fn remove_scratch(git: &Git) -> Result<()> {
    remove_abandoned(git, &scratch_lock(git)?)
}

/// Waits until nobody makes or removes a scratch folder.
fn scratch_lock(git: &Git) -> Result<File> {
    let path = git.folder().join("merges.lock");
    let file = File::create(&path).map_err(Error::file("open", &path))?;
    file.lock().map_err(Error::file("lock", &path))?;
    Ok(file)
}

/// Removes the scratch folders whose lock nobody has.
fn remove_abandoned(git: &Git, _lock: &File) -> Result<()> {
    let entries = fs::read_dir(git.folder()).map_err(Error::file("read", git.folder()))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        if !File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
            continue;
        }
        match fs::remove_dir_all(&path) {
            // Its merge ended meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            done => done.map_err(Error::file("remove", &path))?,
        }
    }
    Ok(())
}

/// A repository with two branches, for one merge. Its objects are those of the snapshots. Branches
/// have the names that conflict markers show, so merges at the same time need one each.
struct Scratch<'a> {
    git: &'a Git,
    folder: TempDir,
    /// The open folder. Its lock says that the merge goes on.
    _open: File,
}

impl<'a> Scratch<'a> {
    fn new(git: &'a Git) -> Result<Self> {
        let lock = scratch_lock(git)?;
        remove_abandoned(git, &lock)?;
        let folder = TempDir::with_prefix_in(PREFIX, git.folder());
        let folder = folder.map_err(Error::file("create a folder in", git.folder()))?;
        let open = File::open(folder.path()).and_then(|open| open.lock().map(|()| open));
        let open = open.map_err(Error::file("lock", folder.path()))?;
        drop(lock);
        let refs = folder.path().join("refs");
        fs::create_dir(&refs).map_err(Error::file("create", refs))?;
        let scratch = Self { git, folder, _open: open };
        scratch.write("HEAD", "ref: refs/heads/none\n")?;
        Ok(scratch)
    }

    /// Makes a commit of the files of a snapshot, and returns its id.
    fn commit(&self, id: SnapshotId, parent: Option<&str>) -> Result<String> {
        let mut command = self.command("commit-tree");
        command.args(["-m", "merge", &objects::files(self.git, id)?]);
        command.args(parent.map(|parent| format!("-p{parent}")));
        let done = crate::git::output(&mut command, "commit-tree", self.git.folder())?;
        Ok(done.stdout.trim().to_str_lossy().into_owned())
    }

    fn branch(&self, name: &str, commit: &str) -> Result<()> {
        self.write(&format!("refs/heads/{name}"), &format!("{commit}\n"))
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.path().join(name);
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)),
            None => Ok(()),
        };
        written.map_err(Error::file("write", path))
    }

    fn command(&self, command: &'static str) -> Command {
        // git runs in the parent, whose path may be relative.
        let name = self.folder.path().file_name().unwrap_or_default();
        let mut git = self.git.command_in(Path::new(name), &[], command);
        for name in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{name}_NAME"), "forklore");
            git.env(format!("GIT_{name}_EMAIL"), "forklore");
            git.env(format!("GIT_{name}_DATE"), "@0 +0000");
        }
        git
    }
}
