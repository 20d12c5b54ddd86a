//! Changes a workspace as a plan says.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::FileType;

use super::plan::Plan;
use super::{SkipReason, Skipped};
use crate::git::Git;
use crate::index::Index;
use crate::objects::{Contents, Entry};
use crate::root::Root;
use crate::walk::walk;
use crate::{Error, Result, Taking};

/// A restore that is going on.
pub(super) struct Apply<'a> {
    git: &'a Git,
    workspace: &'a Path,
    root: Root,
    /// What the snapshot of the state before found.
    index: Index,
    token: &'a str,
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
        index: Index,
        token: &'a str,
        taking: &'a Taking,
    ) -> Self {
        let (written, removed, skipped) = (0, 0, Vec::new());
        Self { git, workspace, root, index, token, taking, written, removed, skipped }
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
        self.root.sync()?;
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
        for path in walk(self.workspace, self.taking)?.unfinished {
            let name = path.rsplit_str("/").next().unwrap_or_default();
            if name == self.token.as_bytes() {
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
        let mut contents = Contents::of(self.git)?;
        for (path, entry, mode) in &plan.write {
            if self.is_free(path.as_bstr()) {
                self.write_one(&mut contents, path.as_bstr(), entry, *mode)?;
            }
        }
        Ok(())
    }

    fn write_one(
        &mut self,
        contents: &mut Contents<'_>,
        path: &BStr,
        entry: &Entry,
        mode: u32,
    ) -> Result<()> {
        let (root, token) = (&self.root, self.token);
        let done = contents.read(&entry.blob, |reader| {
            if !entry.is_link {
                return root.write(path, mode, reader, token);
            }
            let mut target = Vec::new();
            std::io::Read::read_to_end(reader, &mut target)
                .map_err(Error::file("read the link", root.full(path)))?;
            root.link(path, &target, token)
        });
        match done {
            Ok(()) => self.written += 1,
            // A folder that is not empty cannot be replaced by a file.
            Err(Error::File { source, .. })
                if matches!(
                    source.kind(),
                    std::io::ErrorKind::IsADirectory
                        | std::io::ErrorKind::DirectoryNotEmpty
                        | std::io::ErrorKind::NotADirectory
                ) =>
            {
                self.skip(path, SkipReason::FolderInUse);
            }
            Err(error) => return Err(error),
        }
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
        let Some(stat) = self.root.stat(path) else { return true };
        let reason = match self.index.state(path) {
            None if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => return true,
            None => SkipReason::NotInSnapshot,
            Some(state) if !state.is_of(&stat) => SkipReason::Changed,
            Some(_)
                if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                    && stat.st_nlink > 1 =>
            {
                SkipReason::HardLink
            }
            Some(_) => return true,
        };
        self.skip(path, reason);
        false
    }

    fn skip(&mut self, path: &BStr, reason: SkipReason) {
        self.skipped.push(Skipped { path: path.to_owned(), reason });
    }
}
