//! What a restore has to change.

use std::collections::{BTreeMap, BTreeSet};

use bstr::{BString, ByteSlice};

use super::write::ToWrite;
use crate::about::About;
use crate::git::Git;
use crate::journal::Journal;
use crate::objects::{self, Difference};
use crate::selection::selects;
use crate::skipped::{SkipReason, Skipped};
use crate::{Result, SnapshotId};

/// The changes that lead from one state to another.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The files and links to write, with their permissions.
    pub(super) write: Vec<ToWrite>,
    /// The files that have the right contents and other permissions.
    pub(super) modes: Vec<(BString, u32)>,
    /// The files and links to remove.
    pub(super) remove: Vec<BString>,
    /// The folders that must exist, with their permissions.
    pub(super) folders: BTreeMap<BString, u32>,
    /// The permissions of folders, if they exist afterwards.
    pub(super) folder_modes: BTreeMap<BString, u32>,
    /// The permissions of folders that the restore creates.
    pub(super) new_folders: u32,
    /// Folders in which the user may not write now.
    pub(super) closed: Vec<(BString, u32)>,
    /// The folders that may be empty afterwards and are then removed, the deepest first.
    pub(super) emptied: Vec<BString>,
    /// The paths that were changed by others since the state before was recorded.
    pub(super) skipped: Vec<Skipped>,
}

impl Plan {
    /// Returns what leads from the state `now` to the one that a restore wants. What differs from
    /// both states of the restore was changed by somebody else, and stays.
    pub(super) fn of(git: &Git, journal: &Journal, now: SnapshotId) -> Result<Self> {
        let Journal { from, to, paths, .. } = journal;
        let (about_now, about_to) = (objects::about(git, now)?, objects::about(git, *to)?);
        let about_from = objects::about(git, *from)?;
        let changed = |from, to| -> Result<BTreeSet<BString>> {
            let found = objects::differences(git, Some(from), Some(to))?;
            Ok(found.into_iter().map(|found| found.path).collect())
        };
        let (foreign, own) = if now == *from {
            (BTreeSet::new(), None)
        } else {
            (changed(now, *from)?, Some(changed(*from, *to)?))
        };
        let mut plan = Self::default();
        for found in objects::differences(git, Some(now), Some(*to))? {
            let is_own = own.as_ref().is_none_or(|own| own.contains(&found.path));
            if !is_own || !selects(paths, found.path.as_bstr()) {
                continue;
            }
            if foreign.contains(&found.path) {
                plan.skip(found.path, SkipReason::Changed);
            } else {
                plan.add(found, &about_now, &about_to);
            }
        }
        plan.add_modes(git, &about_from, (now, &about_now), (*to, &about_to), paths)?;
        plan.add_folders(&about_now, &about_to, paths);
        Ok(plan)
    }

    /// Returns what leads from an empty folder to a snapshot.
    pub(super) fn of_empty(git: &Git, to: SnapshotId) -> Result<Self> {
        let about = objects::about(git, to)?;
        let mut plan = Self::default();
        for found in objects::differences(git, None, Some(to))? {
            plan.add(found, &About::default(), &about);
        }
        plan.add_folders(&About::default(), &about, &[]);
        Ok(plan)
    }

    fn skip(&mut self, path: BString, reason: SkipReason) {
        self.skipped.push(Skipped { path, reason });
    }

    fn add(&mut self, found: Difference, now: &About, to: &About) {
        let path = found.path;
        match found.after {
            // The snapshot does not know what was there.
            None if to.may_lack(&path) => self.skip(path, SkipReason::NotInSnapshot),
            None => self.remove.push(path),
            Some(_) if found.before.is_none() && now.leaves_out(&path) => {
                self.skip(path, SkipReason::NotInSnapshot);
            }
            Some(entry) => {
                let mode = to.mode(&path, entry.executable);
                if found.before.is_some_and(|before| before.has_contents_of(&entry)) {
                    self.modes.push((path, mode));
                } else {
                    self.write.push((path, entry, mode));
                }
            }
        }
    }

    /// Adds the files with equal contents and other permissions, which git's trees do not show.
    fn add_modes(
        &mut self,
        git: &Git,
        about_from: &About,
        (now, about_now): (SnapshotId, &About),
        (to, about_to): (SnapshotId, &About),
        paths: &[BString],
    ) -> Result<()> {
        if about_now.has_modes_of(about_to) {
            return Ok(());
        }
        let is_usual = about_now.has_usual_modes_of(about_to);
        let before = objects::entries(git, now)?;
        for (path, entry) in objects::entries(git, to)? {
            let mode = about_to.mode(&path, entry.executable);
            let same = before.get(&path) == Some(&entry) && !entry.is_link;
            let before_it = about_from.mode(&path, entry.executable);
            let differs = mode != before_it && before_it == about_now.mode(&path, entry.executable);
            if !selects(paths, path.as_bstr()) {
                continue;
            }
            if !is_usual {
                for folder in folders_of(&path) {
                    let mode = about_to.folder_mode(&folder);
                    self.folder_modes.insert(folder, mode);
                }
            }
            if same && differs {
                self.modes.push((path, mode));
            }
        }
        Ok(())
    }

    fn add_folders(&mut self, now: &About, to: &About, paths: &[BString]) {
        let wanted = to.folders.iter().filter(|(path, _)| selects(paths, path.as_bstr()));
        self.folders = wanted.map(|(path, &mode)| (path.clone(), mode)).collect();
        for (path, &mode) in now.folders.iter().filter(|(path, _)| selects(paths, path.as_bstr())) {
            // A folder that is usual in the snapshot has other permissions now.
            self.folder_modes.insert(path.clone(), to.folder_mode(path));
            if mode & 0o300 != 0o300 {
                self.closed.push((path.clone(), mode | 0o700));
            }
        }
        self.new_folders = to.usual_folder();
        let mut emptied: BTreeSet<BString> = self.remove.iter().flat_map(folders_of).collect();
        let gone = now.folders.keys().filter(|path| !to.folders.contains_key(*path));
        emptied.extend(gone.filter(|path| selects(paths, path.as_bstr())).cloned());
        emptied.retain(|path| !to.folders.contains_key(path));
        self.emptied = emptied.into_iter().rev().collect();
    }
}

/// Returns the folders that lead to a path.
fn folders_of(path: &BString) -> impl Iterator<Item = BString> {
    path.find_iter("/").filter_map(|end| Some(path.get(..end)?.into()))
}
