//! Backups and restores of a store by a process that kills itself at a chosen step.

use std::path::{Path, PathBuf};

use forklore::{BackupError, BackupStep, StoreUrl, blocking};
use rustix::process::{Signal, getpid, kill_process};

use crate::process::Task;

/// The name of the work that writes a backup of the store to the task's file.
pub const BACK_UP: &str = "back up";
/// The name of the work that creates the store from the backup in the task's file.
pub const RESTORE: &str = "restore";

/// Writes a backup, or restores one, as the task says. With `task.calls`, the process kills itself
/// (SIGKILL) at the step with this number, from 1.
///
/// # Errors
/// The errors of the backup or the restore.
///
/// # Panics
/// If the task names no file, or its store has no valid URL.
pub fn copy(task: &Task) -> Result<(), BackupError> {
    let file: PathBuf = task.file.clone().expect("the path of the backup");
    let url = url(task, &task.store);
    let mut steps = 0;
    let mut observe = |_: BackupStep| {
        steps += 1;
        if steps == task.calls {
            kill_process(getpid(), Signal::KILL).expect("a signal to this process");
        }
    };
    match task.work.as_str() {
        BACK_UP => blocking::back_up(&url, &file, &mut observe).map(drop),
        _ => blocking::restore_backup(&file, &url, &mut observe).map(drop),
    }
}

/// Returns the URL of the task's kind of store in a directory.
fn url(task: &Task, store: &Path) -> StoreUrl {
    task.kind.url(store).parse().expect("a URL of a store")
}
