//! The state of files that a history names at a position: found, shown and compared.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use forklore_api::{ChangedFile, FilesCompared, FilesState, ShownSnapshot};
use forklore_core::{Header, Selector};
use forklore_engine::Engine;
use forklore_snapshot::{ChangedLines, Error as SnapshotError, Lines, Most, SnapshotId};

use crate::named::changed;
use crate::position::last_position;
use crate::rewind::inside;
use crate::snapshot::{Named, last_named};
use crate::{Error, Result, WorkspaceFiles};

/// A position of a history, and the folder whose files are meant.
#[derive(Debug, Clone)]
pub struct Moment<'a> {
    /// The session.
    pub header: &'a Header,
    /// The position.
    pub at: Selector,
    /// The folder.
    pub folder: PathBuf,
}

/// How two states differ.
#[derive(Debug, Clone)]
pub struct Diffed {
    /// The difference as the contract shows it.
    pub answer: FilesCompared,
    /// All patches, byte for byte. Empty if they were not wanted.
    pub patch: Vec<u8>,
    /// The number of paths that differ and were left out, because there are too many.
    pub rest: usize,
}

impl WorkspaceFiles {
    /// Returns the state of a folder that belongs to a position: the last snapshot at or before it.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if the history names none there.
    pub fn state(&self, engine: &Engine, moment: &Moment<'_>) -> Result<FilesState> {
        let named = self.named_at(engine, moment)?;
        Ok(state_of(moment, &named))
    }

    /// Records the state of a folder as it is now, without naming it in a session.
    ///
    /// # Errors
    /// If the state cannot be recorded.
    pub fn present(&self, folder: &Path) -> Result<FilesState> {
        let snapshot = self.snapshots.take(folder, &self.taking)?.id.to_string();
        Ok(FilesState { session_id: None, seq: None, folder: folder.to_path_buf(), snapshot })
    }

    /// Compares two states of files.
    ///
    /// # Errors
    /// If a snapshot is not on this machine, or git fails.
    pub fn diff(&self, a: FilesState, b: FilesState, patches: bool) -> Result<Diffed> {
        let found = self.snapshots.compare_lines(a.snapshot.parse()?, b.snapshot.parse()?, patches);
        Ok(diffed(a, b, &found?, 0))
    }

    /// Compares two states of files as [`diff`](Self::diff) does, with patches, up to a limit.
    ///
    /// # Errors
    /// As [`diff`](Self::diff).
    pub fn diff_most(&self, a: FilesState, b: FilesState, most: Most) -> Result<Diffed> {
        let found = self.snapshots.compare_most(a.snapshot.parse()?, b.snapshot.parse()?, most);
        let (found, rest) = found?;
        Ok(diffed(a, b, &found, rest))
    }

    /// Returns how many paths differ between two snapshots. `None` if one is not on this machine.
    ///
    /// # Errors
    /// If an id is none, or git fails.
    pub fn count_changes(&self, before: &str, after: &str) -> Result<Option<u64>> {
        let (before, after) = (before.parse()?, after.parse()?);
        if !self.snapshots.has(before) || !self.snapshots.has(after) {
            return Ok(None);
        }
        Ok(Some(self.snapshots.compare(before, after)?.len() as u64))
    }

    /// Returns the snapshot that belongs to a position, and what changed since the one before.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if the history names none there.
    pub fn show(&self, engine: &Engine, moment: &Moment<'_>) -> Result<ShownSnapshot> {
        let named = self.named_at(engine, moment)?;
        let id = named.id()?;
        let earlier = named.seq.and_then(|seq| seq.checked_sub(1));
        let folder = moment.folder.to_string_lossy();
        let before = match earlier {
            Some(earlier) => last_named(engine, &moment.header.id, earlier, &folder)?,
            None => None,
        };
        let before = before.map(|before| before.id()).transpose()?.or(named.before);
        let present = self.snapshots.has(id);
        let changes = match before.filter(|&before| present && self.snapshots.has(before)) {
            Some(before) => self.snapshots.compare(before, id)?.iter().map(changed).collect(),
            None => Vec::new(),
        };
        Ok(ShownSnapshot {
            recorded: state_of(moment, &named),
            present,
            commit: named.commit,
            branch: named.branch,
            files: named.files,
            bytes: named.bytes,
            left_out: named.left_out,
            before: before.map(|before| before.to_string()),
            changes,
        })
    }

    /// Writes the contents of a file as it was at a position, or where a link led. Returns what
    /// became of the writing.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if the history names none there, [`Error::NoPath`] if the snapshot has
    /// no such file.
    pub fn write_file(
        &self,
        engine: &Engine,
        moment: &Moment<'_>,
        path: &Path,
        to: &mut dyn Write,
    ) -> Result<io::Result<()>> {
        let id = self.on_this_machine(&self.named_at(engine, moment)?)?;
        let inside = inside(path)?;
        let written = self.snapshots.copy_contents(id, inside.as_bstr(), to)?;
        written.ok_or_else(|| Error::NoPath { path: path.to_path_buf() })
    }

    /// Returns the snapshot that belongs to a position, if it can be restored.
    pub(crate) fn snapshot_at(&self, engine: &Engine, moment: &Moment<'_>) -> Result<SnapshotId> {
        self.on_this_machine(&self.named_at(engine, moment)?)
    }

    /// Returns the snapshot that belongs to a position: what the history names at or before it, or
    /// what was taken while an agent worked, whichever is later.
    /// A folder that was made for a fork goes on from the one from which it was made.
    pub(crate) fn named_at(&self, engine: &Engine, moment: &Moment<'_>) -> Result<Named> {
        let (mut folder, mut seen) = (Some(moment.folder.clone()), Vec::new());
        while let Some(at) = folder.take().filter(|at| !seen.contains(at)) {
            if let Some(named) = self.named_in(engine, moment, &at)? {
                return Ok(named);
            }
            folder = self.made_from(&at)?;
            seen.push(at);
        }
        let (session, folder) = (moment.header.id.clone(), moment.folder.clone());
        Err(Error::NoSnapshot { session, folder, at: moment.at.to_string() })
    }

    /// Returns the snapshot of a folder that belongs to a position, if there is one.
    fn named_in(
        &self,
        engine: &Engine,
        moment: &Moment<'_>,
        folder: &Path,
    ) -> Result<Option<Named>> {
        let Moment { header, at, .. } = moment;
        let text = folder.to_string_lossy();
        let (named, recorded) = match last_position(engine, header, at)? {
            Some(seq) => (
                last_named(engine, &header.id, seq, &text)?,
                self.last_moment(engine, header, seq, &text)?,
            ),
            None => (None, self.first_moment(engine, header, &text)?),
        };
        let is_later = |at| named.as_ref().is_none_or(|named| named.at < at);
        Ok(match recorded {
            Some(recorded) if is_later(recorded.at) => Some(recorded),
            _ => named,
        })
    }

    pub(crate) fn on_this_machine(&self, named: &Named) -> Result<SnapshotId> {
        let id = named.id()?;
        let missing = || SnapshotError::NotFound { id: id.to_string() };
        if self.snapshots.has(id) { Ok(id) } else { Err(missing().into()) }
    }
}

fn diffed(a: FilesState, b: FilesState, found: &[ChangedLines], rest: usize) -> Diffed {
    let mut patch = Vec::new();
    for found in found {
        patch.extend_from_slice(found.patch.as_ref().map_or(b"", |patch| patch.as_slice()));
    }
    let changes: Vec<_> = found.iter().map(file).collect();
    let sum = |of: fn(&ChangedFile) -> Option<u64>| changes.iter().filter_map(of).sum();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    Diffed { answer: FilesCompared { a, b, added, removed, changes }, patch, rest }
}

fn state_of(moment: &Moment<'_>, named: &Named) -> FilesState {
    FilesState {
        session_id: Some(moment.header.id.clone()),
        seq: named.seq,
        folder: moment.folder.clone(),
        snapshot: named.snapshot.clone(),
    }
}

fn file(found: &ChangedLines) -> ChangedFile {
    let (lines, without_lines) = match found.lines {
        Lines::Differ { added, removed } => (Some((added, removed)), None),
        Lines::Large => (None, Some("large")),
        _ => (None, Some("binary")),
    };
    ChangedFile {
        path: found.change.path.to_string(),
        change: found.change.kind.as_str().to_owned(),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        without_lines: without_lines.map(str::to_owned),
        patch: found.patch.as_ref().map(|patch| patch.to_str_lossy().into_owned()),
    }
}
