//! Changes a workspace as a plan says.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::FileType;

use super::original::Original;
use super::plan::Plan;
use super::write::{Destination, refusal};
use crate::git::Git;
use crate::index::Index;
use crate::root::Root;
use crate::skipped::Skipped;
use crate::walk::walk;
use crate::{Result, Taking};

/// A restore that is going on.
pub(super) struct Apply<'a> {
    git: &'a Git,
    workspace: &'a Path,
    root: Root,
    /// What the snapshot of the state before found, and the name of unfinished files. `None` in a new
    /// folder.
    before: Option<(Index, &'a str)>,
    original: Option<Original>,
    taking: &'a Taking,
    written: u64,
    removed: u64,
    skipped: Vec<Skipped>,
}

/// The numbers of files that were written and removed, and what was skipped.
type Done = (u64, u64, Vec<Skipped>);

impl<'a> Apply<'a> {
    pub(super) fn new(
        git: &'a Git,
        workspace: &'a Path,
        root: Root,
        before: Option<(Index, &'a str)>,
        taking: &'a Taking,
    ) -> Self {
        let (written, removed, skipped) = (0, 0, Vec::new());
        Self { git, workspace, root, before, original: None, taking, written, removed, skipped }
    }

    /// Shares the contents of files with those of the original, where that is possible.
    pub(super) fn sharing(self, original: Option<Original>) -> Self {
        Self { original, ..self }
    }

    /// Makes the changes. Folders are opened first and get their permissions last.
    pub(super) fn run(mut self, plan: &Plan) -> Result<Done> {
        self.skipped.extend(plan.skipped.iter().cloned());
        self.root.create_folders_with(plan.new_folders);
        self.remove_unfinished()?;
        for (path, mode) in &plan.closed {
            self.root.set_mode(path.as_bstr(), *mode).ok();
        }
        let replaced = self.remove_replaced(plan)?;
        self.write(plan)?;
        self.remove_others(plan, &replaced)?;
        for (path, mode) in &plan.modes {
            if self.is_free(path.as_bstr()) {
                self.root.set_mode(path.as_bstr(), *mode)?;
                self.written += 1;
            }
        }
        for path in plan.folders.keys() {
            self.root.create_folder(path.as_bstr())?;
        }
        // The deepest first: a folder may get permissions that do not let anybody in.
        for (path, mode) in plan.folder_modes.iter().rev() {
            if !plan.folders.contains_key(path) {
                self.set_folder(path.as_bstr(), *mode)?;
            }
        }
        for (path, mode) in plan.folders.iter().rev() {
            self.set_folder(path.as_bstr(), *mode)?;
        }
        // A new folder can be written again from its snapshot, which is on the disk.
        if self.before.is_some() {
            self.root.sync()?;
        }
        self.skipped.sort_unstable();
        self.skipped.dedup();
        Ok((self.written, self.removed, self.skipped))
    }

    fn set_folder(&self, path: &BStr, mode: u32) -> Result<()> {
        let stat = self.root.stat(path);
        let is_folder = |mode| FileType::from_raw_mode(mode) == FileType::Directory;
        if stat.is_some_and(|stat| is_folder(stat.st_mode)) {
            self.root.set_mode(path, mode)?;
        }
        Ok(())
    }

    /// Removes the temporary files of a restore that was killed.
    fn remove_unfinished(&self) -> Result<()> {
        let Some((_, token)) = &self.before else { return Ok(()) };
        for path in walk(self.workspace, self.taking)?.unfinished {
            let name = path.rsplit_str("/").next().unwrap_or_default();
            // Each thread has a name of its own, after a dot.
            let rest = name.strip_prefix(token.as_bytes());
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b".")) {
                self.root.remove(path.as_bstr())?;
            }
        }
        Ok(())
    }

    /// Removes what stands where a folder is needed, and what is in folders where a file is needed.
    fn remove_replaced(&mut self, plan: &Plan) -> Result<BTreeSet<BString>> {
        let written: BTreeSet<&BStr> = plan.write.iter().map(|(path, ..)| path.as_bstr()).collect();
        let is_below_file = |path: &BString| {
            let mut ends = path.find_iter("/").chain([path.len()]);
            ends.any(|end| path.get(..end).is_some_and(|above| written.contains(above.as_bstr())))
        };
        let is_folder = |path: &BString| {
            let below: BString = [path.as_bytes(), b"/"].concat().into();
            let first = written.range::<&BStr, _>(below.as_bstr()..).next();
            first.is_some_and(|path| path.starts_with(&below)) || plan.folders.contains_key(path)
        };
        let mut replaced = BTreeSet::new();
        for path in plan.remove.iter().filter(|path| is_folder(path) || is_below_file(path)) {
            self.remove(path.as_bstr())?;
            replaced.insert(path.clone());
        }
        for path in plan.emptied.iter().filter(|path| is_below_file(path)) {
            self.root.remove_folder(path.as_bstr())?;
        }
        Ok(replaced)
    }

    fn write(&mut self, plan: &Plan) -> Result<()> {
        let before = self.before.as_ref().map(|(index, token)| (index, *token));
        let original = self.original.as_ref();
        let destination = Destination { git: self.git, root: &self.root, before, original };
        let written = destination.write(&plan.write)?;
        self.written += written.files;
        self.skipped.extend(written.skipped);
        Ok(())
    }

    /// Removes what the snapshot does not have. If the rules of what is ignored changed, only what
    /// is not ignored by the restored rules.
    fn remove_others(&mut self, plan: &Plan, replaced: &BTreeSet<BString>) -> Result<()> {
        let is_rule = |path: &BString| path.rsplit_str("/").next() == Some(b".gitignore");
        let rules_changed =
            plan.write.iter().map(|(path, ..)| path).chain(&plan.remove).any(is_rule);
        for path in plan.remove.iter().filter(|path| is_rule(path)) {
            self.remove(path.as_bstr())?;
        }
        let listed: Option<BTreeSet<BString>> = if rules_changed {
            let found = walk(self.workspace, self.taking)?.found;
            Some(found.into_iter().map(|(path, _)| path).collect())
        } else {
            None
        };
        for path in &plan.remove {
            let is_ignored = listed.as_ref().is_some_and(|listed| !listed.contains(path));
            if !is_ignored && !replaced.contains(path) && !is_rule(path) {
                self.remove(path.as_bstr())?;
            }
        }
        for path in &plan.emptied {
            self.root.remove_folder(path.as_bstr())?;
        }
        Ok(())
    }

    fn remove(&mut self, path: &BStr) -> Result<()> {
        if self.is_free(path) && self.root.remove(path)? {
            self.removed += 1;
        }
        Ok(())
    }

    /// Returns whether a path may be changed: what is there is in the snapshot of the state before.
    fn is_free(&mut self, path: &BStr) -> bool {
        let Some((index, _)) = &self.before else { return true };
        let reason = refusal(index, path, self.root.stat(path));
        let skipped = reason.map(|reason| Skipped { path: path.to_owned(), reason });
        self.skipped.extend(skipped.clone());
        skipped.is_none()
    }
}
