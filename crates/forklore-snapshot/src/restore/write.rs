//! Writes the files and links of a plan, with several threads.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{FileType, Stat};

use super::original::Original;
use crate::contents::read_all;
use crate::file_writer::FileWriter;
use crate::git::Git;
use crate::index::Index;
use crate::objects::Entry;
use crate::root::Root;
use crate::skipped::{SkipReason, Skipped};
use crate::{Error, Result};

/// The most threads: git and the file system take turns with each.
const THREADS: usize = 4;
/// The files that a thread writes in a row, most of them in one folder.
const RUN: usize = 64;

/// A file or link to write, with its permissions.
pub(super) type ToWrite = (BString, Entry, u32);

/// Where files are written.
pub(super) struct Destination<'a> {
    pub(super) git: &'a Git,
    pub(super) root: &'a Root,
    /// What the snapshot of the state before found, and the name of unfinished files. `None` in a new
    /// folder.
    pub(super) before: Option<(&'a Index, &'a str)>,
    /// Where the files of a new folder may be, too.
    pub(super) original: Option<&'a Original>,
}

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) files: u64,
    pub(super) skipped: Vec<Skipped>,
}

impl Destination<'_> {
    pub(super) fn write(&self, files: &[ToWrite]) -> Result<Written> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let threads = threads.min(files.len().div_ceil(RUN));
        // After an error, the others stop.
        let stop = AtomicBool::new(false);
        let done: Vec<_> = thread::scope(|scope| {
            let begun: Vec<_> = (0..threads)
                .map(|thread| {
                    let part = files.chunks(RUN).skip(thread).step_by(threads).flatten();
                    let (part, stop): (Vec<_>, _) = (part.collect(), &stop);
                    scope.spawn(move || {
                        let done = self.write_part(&part, thread, stop);
                        stop.fetch_or(done.is_err(), Ordering::Relaxed);
                        done
                    })
                })
                .collect();
            begun.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let mut all = Written::default();
        for done in done {
            let panicked = |_| Error::Damaged { what: "a thread of the restore".to_owned() };
            let written = done.map_err(panicked)??;
            all.files += written.files;
            all.skipped.extend(written.skipped);
        }
        Ok(all)
    }

    fn write_part(&self, files: &[&ToWrite], thread: usize, stop: &AtomicBool) -> Result<Written> {
        let mut writer = match self.before {
            Some((_, token)) => FileWriter::replacing(self.root, format!("{token}.{thread}")),
            None => FileWriter::into_new(self.root),
        };
        let mut written = Written::default();
        let mut others = Vec::with_capacity(files.len());
        for file @ (path, entry, mode) in files.iter().copied() {
            let share = |original: &Original| {
                !entry.is_link && original.share(&mut writer, path.as_bstr(), *mode)
            };
            if !stop.load(Ordering::Relaxed) && self.original.is_some_and(share) {
                written.files += 1;
            } else {
                others.push(file);
            }
        }
        let ids: Vec<_> = others.iter().map(|(_, entry, _)| entry.blob.as_str()).collect();
        let mut files = others.iter();
        read_all(self.git, &ids, |contents| {
            let Some((path, entry, mode)) = files.next() else { return Ok(()) };
            let path = path.as_bstr();
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if let Some((index, _)) = self.before
                && let Some(reason) = refusal(index, path, writer.stat(path))
            {
                written.skipped.push(Skipped { path: path.to_owned(), reason });
                return Ok(());
            }
            let done = if entry.is_link {
                let mut target = Vec::new();
                let failed = Error::file("read the link", self.root.full(path));
                contents.read_to_end(&mut target).map_err(failed)?;
                writer.link(path, &target)
            } else {
                writer.file(path, *mode, contents)
            };
            match done {
                Ok(()) => written.files += 1,
                Err(error) if is_folder(&error) => {
                    let reason = SkipReason::FolderInUse;
                    written.skipped.push(Skipped { path: path.to_owned(), reason });
                }
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(written)
    }
}

/// Returns whether a file could not be written because a folder that is not empty is there.
fn is_folder(error: &Error) -> bool {
    use ErrorKind::{DirectoryNotEmpty, IsADirectory, NotADirectory};
    matches!(error, Error::File { source, .. }
        if matches!(source.kind(), IsADirectory | DirectoryNotEmpty | NotADirectory))
}

/// Returns why a path may not be changed, if what is there is not in the snapshot of the state before.
pub(super) fn refusal(index: &Index, path: &BStr, stat: Option<Stat>) -> Option<SkipReason> {
    let stat = stat?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    match index.state(path) {
        None if kind == FileType::Directory => None,
        None => Some(SkipReason::NotInSnapshot),
        Some(state) if !state.is_of(&stat) => Some(SkipReason::Changed),
        Some(_) if kind == FileType::RegularFile && stat.st_nlink > 1 => Some(SkipReason::HardLink),
        Some(_) => None,
    }
}
