//! `fork --worktree`: a fork with a folder of its own.

use std::path::{Path, PathBuf};

use forklore_api::{Fork, Forked};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, Label, Selector};
use forklore_engine::Engine;
use forklore_snapshot::{Shared, SnapshotId};

use crate::worktree::is_free;
use crate::{Moment, NewWorktree, RemovedWorktree, Result, WorkspaceFiles, Worktree};

/// How many names are tried for a folder.
const MOST_NAMES: usize = 1_000;

impl WorkspaceFiles {
    /// Forks a session, and gives the fork a folder of its own with the files of the cut: those of
    /// the last snapshot at or before it, or the present ones if the fork begins at the end. The
    /// default folder is `PROJECT.worktrees/LABEL` next to the parent's folder, or `LABEL-2` if
    /// something is there.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`](crate::Error::NoSnapshot) if the history names no snapshot there, and those of
    /// [`create_worktree`](Self::create_worktree). The fork does not exist then.
    pub fn fork_into(
        &self,
        engine: &Engine,
        parent: &Header,
        fork: &Fork,
        folder: Option<&Path>,
    ) -> Result<(Forked, Worktree)> {
        // Positions that count from the end are settled once: the parent may grow meanwhile.
        let settled = |at: &Selector| engine.cut(parent, at).map(|cut| cut.selector());
        let at = fork.at.as_ref().map(|at| settled(at).unwrap_or_else(|_| at.clone()));
        let planned = engine.fork(&Fork { dry_run: true, at, ..fork.clone() })?;
        // Nothing removes the snapshot before the fork's log names it.
        let _shared = self.snapshots.share()?;
        let workspace = PathBuf::from(parent.workspace.as_str());
        let (snapshot, commit) = self.state_to_begin_with(engine, parent, fork.at.as_ref())?;
        let worktree = self.create_worktree(&NewWorktree {
            session: planned.child_session_id.clone(),
            folder: folder_of(&workspace, &planned.label, folder),
            workspace,
            snapshot,
            commit,
        })?;
        let request = Fork {
            id: Some(planned.child_session_id),
            at: Some(planned.requested.as_ref().unwrap_or(&planned.cut).selector()),
            label: Some(planned.label),
            workspace: Some(Workspace::new(&worktree.folder.to_string_lossy())),
            ..fork.clone()
        };
        let forked = match engine.fork(&request) {
            Ok(forked) => Forked { adjusted_from: planned.adjusted_from, ..forked },
            Err(error) => {
                // What cannot be removed is in the list of worktrees.
                self.remove_worktree(&worktree.folder).ok();
                return Err(error.into());
            }
        };
        // The fork's log names the state with which its folder began.
        self.snapshot(engine, &engine.show(&forked.child_session_id)?, &worktree.folder)?;
        Ok((forked, worktree))
    }

    /// Returns the folder that [`fork_into`](Self::fork_into) would make for a planned fork.
    #[must_use]
    pub fn plan_fork_into(
        &self,
        parent: &Header,
        planned: &Forked,
        folder: Option<&Path>,
    ) -> PathBuf {
        folder_of(Path::new(parent.workspace.as_str()), &planned.label, folder)
    }

    /// Removes the folder of a fork as [`remove_worktree`](Self::remove_worktree) does. The log of the
    /// fork, if it still exists, names the last state of the files, so that it is not collected.
    ///
    /// # Errors
    /// As [`remove_worktree`](Self::remove_worktree).
    pub fn remove_worktree_of_fork(
        &self,
        engine: &Engine,
        folder: &Path,
    ) -> Result<RemovedWorktree> {
        self.remove(folder, |present| match engine.show(&present.begun.session) {
            Ok(header) => self.snapshot(engine, &header, folder).map(drop),
            Err(_) => Ok(()),
        })
    }

    /// Keeps all snapshots while the value that this returns is alive.
    ///
    /// # Errors
    /// If the folder of the snapshots cannot be used.
    pub fn share(&self) -> Result<Shared> {
        Ok(self.snapshots.share()?)
    }

    /// Returns the folder that a fork with a label gets if the user names none.
    #[must_use]
    pub fn folder_of_fork(&self, parent: &Header, label: &Label) -> PathBuf {
        folder_of(Path::new(parent.workspace.as_str()), label, None)
    }

    /// Returns the state of the files at a cut, and the commit on which it is based. Without a cut,
    /// it is the present state, which becomes a snapshot.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`](crate::Error::NoSnapshot) if the history names no snapshot there.
    pub fn state_to_begin_with(
        &self,
        engine: &Engine,
        parent: &Header,
        at: Option<&Selector>,
    ) -> Result<(SnapshotId, Option<String>)> {
        let workspace = Path::new(parent.workspace.as_str());
        if at.is_none() && workspace.is_dir() {
            let recorded = self.snapshots.take(workspace, &self.taking)?;
            return Ok((recorded.id, recorded.commit));
        }
        let at = at.cloned().unwrap_or(Selector::End);
        let moment = Moment { header: parent, at, folder: workspace.to_path_buf() };
        let named = self.named_at(engine, &moment)?;
        Ok((self.on_this_machine(&named)?, named.commit))
    }
}

/// Returns the folder for a fork: the one that is wanted, or the default. The default gets a number
/// if something is at its name already.
fn folder_of(workspace: &Path, label: &Label, wanted: Option<&Path>) -> PathBuf {
    if let Some(wanted) = wanted {
        return wanted.to_path_buf();
    }
    let mut name = workspace.file_name().unwrap_or_default().to_os_string();
    name.push(".worktrees");
    let folder = workspace.with_file_name(name).join(label.as_str());
    // What cannot be looked at, for example because there is a file above, is refused when it is made.
    let is_occupied = |folder: &Path| is_free(folder).is_ok_and(|free| !free);
    if !is_occupied(&folder) {
        return folder;
    }
    let others = (2..).map(|number: u64| folder.with_file_name(format!("{label}-{number}")));
    others.take(MOST_NAMES).find(|other| !is_occupied(other)).unwrap_or(folder)
}
