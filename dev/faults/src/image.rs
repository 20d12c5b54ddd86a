//! The possible contents of a disk after a power cut: all durable data, and any part of the rest.
//!
//! The content of a file is durable up to the file's last sync. A file name is durable up to the
//! last sync of its directory. The two are independent: a name may be durable while its file is
//! empty. Each unsynced write and name change may or may not have reached the disk, in any order. A
//! name change reaches the disk completely or not at all. A write reaches the disk in sectors of
//! 512 bytes. Where a file grew, there may be zeros.

mod loss;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::drive::{Entry, Node};
use crate::soak::Chance;

pub use loss::Loss;

/// The state of a simulated disk: durable content, and changes that a power cut may lose.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    files: BTreeMap<Node, Content>,
    /// The names of files and directories that are durable.
    names: BTreeMap<PathBuf, Named>,
    /// Changes of file names that are not durable yet, in the order in which they were made.
    renaming: Vec<Naming>,
    /// The directories that the store created. All other directories exist from the start.
    made: BTreeSet<PathBuf>,
}

#[derive(Clone, Debug, Default)]
struct Content {
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

/// A change of a file's content that is not synced yet: bytes written at an offset, or a new
/// length.
#[derive(Clone, Debug)]
enum Change {
    Write(Vec<u8>, u64),
    SetLen(u64),
}

#[derive(Clone, Copy, Debug)]
enum Named {
    File(Node),
    Folder,
}

/// A change of file names that is not synced yet.
#[derive(Clone, Debug)]
enum Naming {
    Add(PathBuf, Named),
    Rename(PathBuf, PathBuf, Node),
    Remove(PathBuf),
}

impl Naming {
    /// Returns the directory whose sync makes this change of a file name durable.
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Add(path, _) | Self::Rename(_, path, _) | Self::Remove(path) => path.parent(),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Named>) {
        match self {
            Self::Add(path, named) => {
                names.insert(path.clone(), *named);
            }
            Self::Rename(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), Named::File(*node));
            }
            Self::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(new, at) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                bytes.resize(bytes.len().max(at + new.len()), 0);
                bytes[at..at + new.len()].copy_from_slice(new);
            }
            Self::SetLen(len) => bytes.resize(usize::try_from(*len).unwrap_or(usize::MAX), 0),
        }
    }
}

impl Disk {
    /// Applies the next entry of a drive's journal to this disk.
    pub fn follow(&mut self, entry: &Entry) {
        match entry {
            Entry::Made(path, node) => {
                self.files.insert(*node, Content::default());
                self.renaming.push(Naming::Add(path.clone(), Named::File(*node)));
            }
            Entry::Found(path, node, bytes) => {
                let content = Content { durable: bytes.clone(), unsynced: Vec::new() };
                self.files.insert(*node, content);
                self.names.insert(path.clone(), Named::File(*node));
            }
            Entry::Gone(path) => {
                self.names.remove(path);
                self.renaming.retain(|naming| !matches!(naming, Naming::Add(of, _) if of == path));
            }
            Entry::Wrote(node, bytes, at) => {
                self.file(*node).unsynced.push(Change::Write(bytes.clone(), *at));
            }
            Entry::SetLen(node, len) => self.file(*node).unsynced.push(Change::SetLen(*len)),
            Entry::Synced(node) => {
                let Content { durable, unsynced } = self.file(*node);
                unsynced.drain(..).for_each(|change| change.apply(durable));
            }
            Entry::Renamed(from, to, node) => {
                self.renaming.push(Naming::Rename(from.clone(), to.clone(), *node));
            }
            Entry::Linked(path, node) => {
                self.renaming.push(Naming::Add(path.clone(), Named::File(*node)));
            }
            Entry::Removed(path) => self.renaming.push(Naming::Remove(path.clone())),
            Entry::MadeDir(path) => {
                if self.made.insert(path.clone()) {
                    self.renaming.push(Naming::Add(path.clone(), Named::Folder));
                }
            }
            Entry::SyncedDir(folder) => {
                for naming in std::mem::take(&mut self.renaming) {
                    if naming.folder() == Some(folder) {
                        naming.apply(&mut self.names);
                    } else {
                        self.renaming.push(naming);
                    }
                }
            }
            Entry::Mark(_) => {}
        }
    }

    /// Returns the current names of files, with the identity (node) of each file. Includes names
    /// that are not durable yet.
    #[must_use]
    pub fn names(&self) -> BTreeMap<PathBuf, Node> {
        let mut names = self.names.clone();
        self.renaming.iter().for_each(|naming| naming.apply(&mut names));
        let file = |(path, named)| match named {
            Named::File(node) => Some((path, node)),
            Named::Folder => None,
        };
        names.into_iter().filter_map(file).collect()
    }

    /// Returns a copy of this disk in which the paths below directory `from` are below directory
    /// `to`.
    #[must_use]
    pub fn moved(&self, from: &Path, to: &Path) -> Self {
        let moved =
            |path: &PathBuf| path.strip_prefix(from).map_or(path.clone(), |rest| to.join(rest));
        let renaming = self.renaming.iter().map(|naming| match naming {
            Naming::Add(path, named) => Naming::Add(moved(path), *named),
            Naming::Rename(from, to, node) => Naming::Rename(moved(from), moved(to), *node),
            Naming::Remove(path) => Naming::Remove(moved(path)),
        });
        Self {
            files: self.files.clone(),
            names: self.names.iter().map(|(path, named)| (moved(path), *named)).collect(),
            renaming: renaming.collect(),
            made: self.made.iter().map(moved).collect(),
        }
    }

    fn file(&mut self, node: Node) -> &mut Content {
        self.files.entry(node).or_default()
    }

    /// Creates the files that may be on the disk after a power cut with the effect `loss`. Takes
    /// the files below the directory `root` of this disk, and writes them into the real directory
    /// `into`. Random choices come from `chance`.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn restore(
        &self,
        root: &Path,
        into: &Path,
        loss: Loss,
        chance: &mut Chance,
    ) -> io::Result<()> {
        let mut names = self.names.clone();
        let stored = self.renaming.iter().filter(|_| loss.keeps_name(chance)).collect::<Vec<_>>();
        stored.iter().for_each(|naming| naming.apply(&mut names));
        let lost = |path: &Path| self.made.contains(path) && !names.contains_key(path);
        for (path, named) in &names {
            let Ok(below) = path.strip_prefix(root) else { continue };
            if path.ancestors().skip(1).any(lost) {
                continue;
            }
            let target = into.join(below);
            match named {
                Named::Folder => private_folder(&target)?,
                Named::File(node) => {
                    if let Some(folder) = target.parent() {
                        private_folder(folder)?;
                    }
                    let content = self.files.get(node).cloned().unwrap_or_default();
                    private_file(&target, &content.after(loss, chance))?;
                }
            }
        }
        Ok(())
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
