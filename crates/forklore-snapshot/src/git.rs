//! Runs git so that only its arguments decide what it does.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{Error, Result};

/// Settings of the repository of snapshots. They come with each command, so that a changed file of
/// settings changes nothing: names that other systems do not allow are stored, and what git
/// acknowledges is on the disk.
const SETTINGS: [&str; 7] = [
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.fsync=all",
    "core.compression=1",
    "fastimport.unpackLimit=1",
    "gc.auto=0",
    "core.hooksPath=/dev/null",
];

/// Settings with which the settings of a folder run no program: not one that watches files, no hook,
/// neither a file nor a setting, of the events that our commands cause, and no pager.
const USERS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "hook.post-checkout.enabled=false",
    "hook.post-index-change.enabled=false",
    "hook.reference-transaction.enabled=false",
    "core.pager=cat",
];

/// The bare repository of the snapshots.
#[derive(Debug)]
pub(crate) struct Git {
    folder: PathBuf,
}

impl Git {
    /// Returns the repository in `folder`, which need not exist yet.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// Creates the repository if it does not exist.
    pub(crate) fn create(&self) -> Result<()> {
        let folder = &self.folder;
        if !folder.join("HEAD").exists() {
            // The files of a user are nobody else's business.
            let mut private = fs::DirBuilder::new();
            private.recursive(true).mode(0o700);
            private.create(folder).map_err(Error::file("create", folder))?;
            let mut init = without_settings(Path::new("."));
            init.args(["init", "--quiet", "--bare", "--object-format=sha1", "--template="]);
            output(init.arg(folder), "init", folder)?;
        }
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a command of git in this repository.
    pub(crate) fn command(&self, command: &'static str) -> Command {
        self.command_with(&[], command)
    }

    /// Returns a command of git in this repository with further settings.
    pub(crate) fn command_with(&self, settings: &[&str], command: &'static str) -> Command {
        self.command_in(Path::new("."), settings, command)
    }

    /// Returns a command of git in a repository with its own refs and the objects of this one. A
    /// relative path is one in the folder of this repository.
    pub(crate) fn command_in(
        &self,
        repository: &Path,
        settings: &[&str],
        command: &'static str,
    ) -> Command {
        let mut git = without_settings(&self.folder);
        for setting in SETTINGS.iter().chain(settings) {
            git.args(["-c", setting]);
        }
        git.env("GIT_OBJECT_DIRECTORY", "objects");
        git.arg("--git-dir").arg(repository).arg(command);
        git
    }

    /// Runs a command to its end and returns its output.
    pub(crate) fn run(&self, command: &'static str, args: &[&str]) -> Result<Vec<u8>> {
        let done = output(self.command(command).args(args), command, &self.folder)?;
        Ok(done.stdout)
    }

    pub(crate) fn failed(&self, command: &'static str, stderr: &[u8]) -> Error {
        failed(command, &self.folder, stderr)
    }
}

/// Returns `git`, run in `folder`, without the settings of the user and the system and without the
/// variables by which the environment could redirect it.
fn without_settings(folder: &Path) -> Command {
    let mut git = in_folder(folder);
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.env("GIT_ATTR_NOSYSTEM", "1");
    git
}

/// Returns `git`, run in a folder of the user with the settings of the user, but without the programs
/// that they name, without locks that it does not need, and without the variables by which the
/// environment could redirect it. Who wrote the folder's settings may be anybody: an object that is
/// missing is not fetched, because that runs what the settings say.
#[must_use]
pub fn users_git(folder: &Path) -> Command {
    let mut git = in_folder(folder);
    git.env("GIT_OPTIONAL_LOCKS", "0");
    git.arg("--no-pager");
    for setting in USERS {
        git.args(["-c", setting]);
    }
    git
}

fn in_folder(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.current_dir(folder).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
    // Before version 2.45, git fetches whatever it misses: then no protocol is allowed.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "");
    git.stdin(Stdio::null());
    git
}

/// Runs a command to its end.
pub(crate) fn output(git: &mut Command, command: &'static str, folder: &Path) -> Result<Output> {
    let done = git.output().map_err(|source| not_started(source, folder))?;
    if done.status.success() { Ok(done) } else { Err(failed(command, folder, &done.stderr)) }
}

/// Returns the error of a command that could not be started. A folder that is missing is no
/// missing program.
pub(crate) fn not_started(source: io::Error, folder: &Path) -> Error {
    if folder.is_dir() {
        Error::NoGit { source }
    } else {
        Error::File { what: "open", path: folder.to_path_buf(), source }
    }
}

fn failed(command: &'static str, folder: &Path, stderr: &[u8]) -> Error {
    let message = String::from_utf8_lossy(stderr).trim().to_owned();
    Error::Git { command, folder: folder.to_path_buf(), message }
}
