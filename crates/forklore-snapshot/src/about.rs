//! What a snapshot has beside git's tree: exact permissions, empty folders, and what was left out.
//!
//! git records only whether a file is executable. The file `about` of a snapshot has records that
//! end with a NUL: `usual 644 755 755`, the usual permissions of files, executable files and
//! folders; `mode 600 PATH` for each path with others; `folder 700 PATH` for each folder with others
//! or without files; `left large PATH` for what was left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bstr::{BString, ByteSlice};

use crate::left_out::{LeftOut, Reason};
use crate::walk::{Kind, Listing, State};
use crate::{Error, Result};

/// What a snapshot has beside the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    usual: Usual,
    modes: BTreeMap<BString, u32>,
    /// Folders without files, and those with unusual permissions.
    pub(crate) folders: BTreeMap<BString, u32>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// The permissions that most paths have. They depend on the user's umask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usual {
    file: u32,
    executable: u32,
    folder: u32,
}

impl Default for Usual {
    fn default() -> Self {
        Self { file: 0o644, executable: 0o755, folder: 0o755 }
    }
}

impl Usual {
    fn of(listing: &Listing) -> Self {
        let usual = Self::default();
        let most = |of: fn(&State) -> bool, default: u32| {
            let mut counts = HashMap::new();
            for (_, state) in listing.found.iter().filter(|(_, state)| of(state)) {
                *counts.entry(state.mode).or_insert(0_u64) += 1;
            }
            // The smaller of two modes with equal counts: the same state has the same record.
            let most = counts.into_iter().max_by_key(|&(mode, count)| (count, u32::MAX - mode));
            most.map_or(default, |(mode, _)| mode)
        };
        Self {
            file: most(|state| state.kind == Kind::File && !is_executable(state.mode), usual.file),
            executable: most(
                |state| state.kind == Kind::File && is_executable(state.mode),
                usual.executable,
            ),
            // Others are recorded one by one: a copy is written into folders of the usual mode.
            folder: most(
                |state| state.kind == Kind::Folder && state.mode & 0o700 == 0o700,
                usual.folder,
            ),
        }
    }
}

fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

impl About {
    pub(crate) fn of(listing: &Listing) -> Self {
        let usual = Usual::of(listing);
        let mut about = Self { usual, left_out: listing.left_out.clone(), ..Self::default() };
        let mut with_files = BTreeSet::new();
        let mut last = None;
        for (path, state) in &listing.found {
            let Some(end) = path.rfind_byte(b'/') else { continue };
            let folder = path.get(..end);
            // Most files follow another one of their folder.
            if state.kind != Kind::Folder && folder != last {
                with_files.extend(folder);
                last = folder;
            }
        }
        for (path, state) in &listing.found {
            match state.kind {
                Kind::File if state.mode != about.mode(path, is_executable(state.mode)) => {
                    about.modes.insert(path.clone(), state.mode);
                }
                Kind::Folder
                    if state.mode != usual.folder || !with_files.contains(path.as_slice()) =>
                {
                    about.folders.insert(path.clone(), state.mode);
                }
                _ => {}
            }
        }
        about
    }

    /// Returns the permissions of a file.
    pub(crate) fn mode(&self, path: &BString, executable: bool) -> u32 {
        let usual = if executable { self.usual.executable } else { self.usual.file };
        self.modes.get(path).copied().unwrap_or(usual)
    }

    /// Returns the permissions of a folder.
    pub(crate) fn folder_mode(&self, path: &BString) -> u32 {
        self.folders.get(path).copied().unwrap_or(self.usual.folder)
    }

    /// Returns the permissions that most folders have.
    pub(crate) fn usual_folder(&self) -> u32 {
        self.usual.folder
    }

    /// Returns whether all paths of both snapshots have the same permissions in both.
    pub(crate) fn has_modes_of(&self, other: &Self) -> bool {
        self.has_usual_modes_of(other) && self.modes == other.modes
    }

    /// Returns whether most paths have the same permissions in both snapshots.
    pub(crate) fn has_usual_modes_of(&self, other: &Self) -> bool {
        self.usual == other.usual
    }

    /// Returns whether the snapshot does not know what was at a path.
    pub(crate) fn leaves_out(&self, path: &BString) -> bool {
        self.left_out.iter().filter(|left| left.reason != Reason::Changing).any(|left| {
            let below = path.strip_prefix(left.path.as_slice());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
                || left.path.is_empty()
        })
    }

    /// Returns whether the snapshot may not know what was at a path: it was left out, or is in a
    /// repository that git could not read. What that tracks although it is ignored is not in the
    /// snapshot.
    pub(crate) fn may_lack(&self, path: &BString) -> bool {
        if self.leaves_out(path) {
            return true;
        }
        let unread = self.left_out.iter().filter(|left| left.reason == Reason::Unreadable);
        let mut folders = unread.filter_map(|left| left.path.strip_suffix(b".git"));
        folders.any(|folder| folder.ends_with(b"/") && path.starts_with(folder))
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Usual { file, executable, folder } = self.usual;
        let mut bytes = format!("usual {file:o} {executable:o} {folder:o}\0").into_bytes();
        let mut record = |head: String, path: &BString| {
            bytes.extend(head.into_bytes());
            bytes.extend_from_slice(path);
            bytes.push(0);
        };
        for (path, mode) in &self.modes {
            record(format!("mode {mode:o} "), path);
        }
        for (path, mode) in &self.folders {
            record(format!("folder {mode:o} "), path);
        }
        for left in &self.left_out {
            record(format!("left {} ", left.reason), &left.path);
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut about = Self::default();
        for record in bytes.split_str("\0").filter(|record| !record.is_empty()) {
            let damaged = || Error::Damaged { what: format!("the record {:?}", record.as_bstr()) };
            about.read(record).ok_or_else(damaged)?;
        }
        Ok(about)
    }

    fn read(&mut self, record: &[u8]) -> Option<()> {
        let (kind, rest) = record.split_once_str(" ")?;
        let octal = |digits: &[u8]| u32::from_str_radix(digits.to_str().ok()?, 8).ok();
        match kind {
            b"usual" => {
                let mut modes = rest.split_str(" ").map(octal);
                let mut next = || modes.next().flatten();
                self.usual = Usual { file: next()?, executable: next()?, folder: next()? };
            }
            b"left" => {
                let (reason, path) = rest.split_once_str(" ")?;
                let reason =
                    Reason::ALL.into_iter().find(|one| one.as_str().as_bytes() == reason)?;
                self.left_out.push(LeftOut { path: path.into(), reason });
            }
            _ => {
                let (mode, path) = rest.split_once_str(" ")?;
                let of = if kind == b"mode" { &mut self.modes } else { &mut self.folders };
                of.insert(path.into(), octal(mode)?);
            }
        }
        Some(())
    }
}
