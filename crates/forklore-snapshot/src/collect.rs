//! Removes the snapshots that nothing needs, and keeps the number of packs small.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::Stdio;

use bstr::ByteSlice;

use crate::git::output;
use crate::journal::Journal;
use crate::merge::remove_scratch;
use crate::rests::files_in;
use crate::writer::{REFS, TAKING};
use crate::{Error, Result, SnapshotId, Snapshots, rests};

/// From this number of packs on, they are combined. Each snapshot adds one.
const PACKS: usize = 48;
/// Settings with which git combines packs: equal parts of large files are stored once, within a
/// bound on the memory.
const SETTINGS: [&str; 3] =
    ["pack.windowMemory=64m", "pack.deltaCacheSize=64m", "core.bigFileThreshold=64m"];

/// What was removed because nothing needs it, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// The number of snapshots that nothing needs.
    pub removed: u64,
    /// The number of snapshots that are needed.
    pub needed: u64,
    /// The bytes of all snapshots before.
    pub bytes: u64,
    /// The bytes that were freed. An estimate if nothing was removed.
    pub freed: u64,
}

/// The right to write and read snapshots: nothing removes one meanwhile.
#[derive(Debug)]
pub struct Shared {
    /// Its lock ends when the file is closed.
    _file: File,
}

impl Snapshots {
    /// Waits until no other process removes snapshots, and lets none do so. Who names a snapshot
    /// after taking it needs this around both.
    ///
    /// # Errors
    /// If the repository cannot be created or locked.
    pub fn share(&self) -> Result<Shared> {
        self.create()?;
        let (path, file) = self.lock_file()?;
        file.lock_shared().map_err(Error::file("lock", path))?;
        Ok(Shared { _file: file })
    }

    /// Removes the snapshots that are not needed, and frees their space. Waits until nobody takes or
    /// restores one, then asks `needed`. What a restore that was killed needs stays too. If `dry_run`
    /// is set, changes nothing.
    ///
    /// A kill at any moment loses nothing that is needed: the next call frees the rest.
    ///
    /// # Errors
    /// If `needed` fails, then nothing was removed, or if git fails.
    pub fn collect<E: From<Error>>(
        &self,
        dry_run: bool,
        needed: impl FnOnce() -> Result<BTreeSet<SnapshotId>, E>,
    ) -> Result<Collected, E> {
        if !self.git().folder().join("HEAD").exists() {
            return Ok(Collected::default());
        }
        let (path, lock) = self.lock_file()?;
        lock.lock().map_err(Error::file("lock", path))?;
        let mut needed = needed()?;
        needed.extend(self.interrupted()?);
        Ok(self.collect_locked(dry_run, &needed, &lock)?)
    }

    fn collect_locked(
        &self,
        dry_run: bool,
        needed: &BTreeSet<SnapshotId>,
        lock: &File,
    ) -> Result<Collected> {
        let (needed, rest): (Vec<_>, Vec<_>) =
            self.all()?.into_iter().partition(|id| needed.contains(id));
        let bytes = self.bytes()?;
        let (removed, needed_number) = (rest.len() as u64, needed.len() as u64);
        let collected = Collected { removed, needed: needed_number, bytes, freed: 0 };
        if dry_run {
            let freed = if rest.is_empty() { 0 } else { self.used(&rest, &needed)? };
            return Ok(Collected { freed, ..collected });
        }
        remove_scratch(self.git())?;
        rests::remove(self.git())?;
        let begun = self.git().folder().join("collecting");
        if rest.is_empty() && self.packs() <= 1 && !begun.exists() {
            return Ok(collected);
        }
        File::create(&begun).map_err(Error::file("create", &begun))?;
        self.remove_rests_of_kills()?;
        self.remove_refs(&rest)?;
        // Nobody else writes: what no ref leads to is not in use.
        self.repack(&["-a", "-d"], lock)?;
        self.git().run("prune", &["--expire=now"])?;
        fs::remove_file(&begun).map_err(Error::file("remove", &begun))?;
        let freed = bytes.saturating_sub(self.bytes()?);
        Ok(Collected { freed, ..collected })
    }

    /// Combines packs if there are many. Does nothing while another process works on snapshots: the
    /// next one does it.
    ///
    /// # Errors
    /// If the repository cannot be locked or git fails.
    pub fn tidy(&self) -> Result<()> {
        if self.packs() < PACKS {
            return Ok(());
        }
        let (path, lock) = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => self.repack(&["--geometric=2", "-d"], &lock),
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(source)) => Err(Error::file("lock", path)(source)),
        }
    }

    fn lock_file(&self) -> Result<(PathBuf, File)> {
        let path = self.git().folder().join("lock");
        let file = File::create(&path).map_err(Error::file("open", &path))?;
        Ok((path, file))
    }

    /// Returns all snapshots.
    fn all(&self) -> Result<Vec<SnapshotId>> {
        let answer = self.git().run("for-each-ref", &["--format=%(refname)", REFS])?;
        let names = answer.lines().filter_map(|line| line.to_str().ok()?.rsplit('/').next());
        names.map(str::parse).collect()
    }

    /// Returns the snapshots that restores need that were killed.
    fn interrupted(&self) -> Result<Vec<SnapshotId>> {
        let folder = self.git().folder().join("workspaces");
        let mut needed = Vec::new();
        for path in files_in(&folder)? {
            if path.extension().is_some_and(|kind| kind == "restore")
                && let Some(journal) = Journal::read(&path)?
            {
                needed.extend([journal.from, journal.to]);
            }
        }
        Ok(needed)
    }

    /// Removes what a killed git left: locks of refs, and snapshots without a name.
    fn remove_rests_of_kills(&self) -> Result<()> {
        let folder = self.git().folder();
        let inside = |name: &str| folder.join(name);
        let folders = [folder.to_path_buf(), inside(REFS), inside(TAKING), inside("objects/pack")];
        for path in
            folders.iter().map(|folder| files_in(folder)).collect::<Result<Vec<_>>>()?.concat()
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".lock") {
                fs::remove_file(&path).map_err(Error::file("remove", &path))?;
            }
        }
        let unnamed = self.git().run("for-each-ref", &["--format=delete %(refname)", TAKING])?;
        self.update_refs(&unnamed)
    }

    fn remove_refs(&self, ids: &[SnapshotId]) -> Result<()> {
        let lines: Vec<_> = ids.iter().map(|id| format!("delete {REFS}/{id}\n")).collect();
        self.git().run("pack-refs", &["--all", "--prune"])?;
        self.update_refs(lines.concat().as_bytes())
    }

    fn update_refs(&self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut git = self.git().command("update-ref");
        git.arg("--stdin").stdin(self.input(lines)?);
        output(&mut git, "update-ref", self.git().folder()).map(drop)
    }

    /// Runs `git repack`. It holds the lock too, in case that this process is killed.
    fn repack(&self, args: &[&str], lock: &File) -> Result<()> {
        let folder = self.git().folder();
        let lock = lock.try_clone().map_err(Error::file("lock", folder))?;
        let mut git = self.git().command_with(&SETTINGS, "repack");
        git.args(["--quiet", "--no-write-bitmap-index"]).args(args).stdin(Stdio::from(lock));
        output(&mut git, "repack", folder).map(drop)
    }

    /// Returns how many bytes only the first snapshots use.
    fn used(&self, rest: &[SnapshotId], needed: &[SnapshotId]) -> Result<u64> {
        let all = self.disk_usage(rest.iter().chain(needed))?;
        Ok(all.saturating_sub(self.disk_usage(needed.iter())?))
    }

    fn disk_usage<'a>(&self, ids: impl Iterator<Item = &'a SnapshotId>) -> Result<u64> {
        let lines: Vec<_> = ids.map(|id| format!("{REFS}/{id}\n")).collect();
        if lines.is_empty() {
            return Ok(0);
        }
        let mut git = self.git().command("rev-list");
        git.args(["--objects", "--disk-usage", "--stdin"]);
        git.stdin(self.input(lines.concat().as_bytes())?);
        let answer = output(&mut git, "rev-list", self.git().folder())?.stdout;
        let number = answer.to_str().ok().and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| Error::Answer { command: "rev-list", answer: answer.into() })
    }

    /// Returns an input of git that has these bytes.
    pub(crate) fn input(&self, bytes: &[u8]) -> Result<Stdio> {
        let failed = || Error::file("write", self.git().folder());
        let mut file = tempfile::tempfile().map_err(failed())?;
        file.write_all(bytes).and_then(|()| file.rewind()).map_err(failed())?;
        Ok(Stdio::from(file))
    }

    /// Returns the number of packs.
    fn packs(&self) -> usize {
        let packs = files_in(&self.git().folder().join("objects/pack")).unwrap_or_default();
        packs.iter().filter(|path| path.extension().is_some_and(|kind| kind == "pack")).count()
    }

    /// Returns the bytes of all objects on the disk.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let objects = self.git().folder().join("objects");
        let entries = fs::read_dir(&objects).map_err(Error::file("read", &objects))?;
        let mut bytes = 0;
        for entry in entries.filter_map(Result::ok) {
            for file in files_in(&entry.path())? {
                bytes += fs::metadata(&file).map(|metadata| metadata.len()).unwrap_or_default();
            }
        }
        Ok(bytes)
    }
}
