//! Imported files with the same first line. A new file may have the same content as one of these
//! files, or may be one of these files at a new path (docs/semantics.md, Sources).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;

use forklore_engine::sources::path_of;
use forklore_engine::{Error, Result};
use forklore_store::Store;
use forklore_store::sources::{FindSource, Progress, RecordKey, SeenFile, Source};
use sha2::{Digest, Sha256};

use crate::opened::Opened;

/// A cache of the imported files by first line. Agents begin very many files with the same line.
/// Without the cache, the import of such a file would read what the store has of all the others.
#[derive(Default)]
pub(crate) struct FirstLines(HashMap<RecordKey, SameFirstLine>);

/// The imported files with one first line.
#[derive(Default)]
struct SameFirstLine {
    /// The imported files. Each is listed under every size that a file with its content can have
    /// ([`sizes_of`]).
    by_size: HashMap<u64, Contents>,
    /// The files that are no longer at their recorded paths.
    moved: Contents,
}

/// The paths of files, by content: by the number of bytes that were read, and by the sha256 of
/// these bytes.
#[derive(Default)]
struct Contents(HashMap<u64, HashMap<[u8; 32], Vec<String>>>);

impl FirstLines {
    /// Finds the imported file that `file` is a copy of, or that was moved to the path of `file`.
    /// In both cases, `file` begins with the bytes that were read of the imported file. A copy also
    /// has the same size; a moved file is no longer at the paths where it was imported. If there
    /// are several such imported files, returns the one that was imported last. Also returns the
    /// sha256 state of the bytes that were read of it. Returns `None` if there is no such file.
    pub(crate) fn find(
        &mut self,
        sources: &dyn Store,
        file: &Opened,
    ) -> Result<Option<(Source, Sha256)>> {
        let first_line = file.first_line();
        let same = match self.0.entry(first_line) {
            Entry::Occupied(cached) => cached.into_mut(),
            Entry::Vacant(empty) => empty.insert(load(sources, first_line)?),
        };
        if same.is_empty() {
            return Ok(None);
        }
        let unreadable = |error| Error::io(format!("cannot read {}", file.seen.path), error);
        let sizes = [file.seen.size, file.len().map_err(unreadable)?];
        let equal = sizes.iter().filter_map(|size| same.by_size.get(size));
        let mut found: Option<(Source, Sha256)> = None;
        for contents in equal.chain([&same.moved]) {
            for (len, by_hash) in &contents.0 {
                let Some(hash) = file.hash_of(*len).map_err(unreadable)? else { continue };
                let digest = <[u8; 32]>::from(hash.clone().finalize());
                for path in by_hash.get(&digest).into_iter().flatten() {
                    for source in sources.sources(&FindSource::Path(path.clone()))? {
                        let is_same = source.first_line == first_line
                            && (source.read.offset, source.read.sha256) == (*len, digest)
                            && (sizes_of(&source).any(|size| sizes.contains(&size))
                                || is_moved(&source));
                        if is_same && found.as_ref().is_none_or(|(best, _)| best.id < source.id) {
                            found = Some((source, hash.clone()));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Adds a file that this import has read up to `read`. `seen` has its path and size. Does
    /// nothing if the cache has no entry for this first line; [`Self::find`] adds the entry.
    pub(crate) fn add(&mut self, first_line: RecordKey, seen: &SeenFile, read: &Progress) {
        if let Some(same) = self.0.get_mut(&first_line) {
            same.add(&seen.path, [seen.size, read.offset], read);
        }
    }
}

impl SameFirstLine {
    fn is_empty(&self) -> bool {
        self.by_size.is_empty() && self.moved.0.is_empty()
    }

    fn add(&mut self, path: &str, sizes: impl IntoIterator<Item = u64>, read: &Progress) {
        for size in sizes {
            self.by_size.entry(size).or_default().add(path, read);
        }
    }
}

impl Contents {
    fn add(&mut self, path: &str, read: &Progress) {
        let paths = self.0.entry(read.offset).or_default().entry(read.sha256).or_default();
        if !paths.iter().any(|it| it == path) {
            paths.push(path.to_owned());
        }
    }
}

fn load(sources: &dyn Store, first_line: RecordKey) -> Result<SameFirstLine> {
    let mut same = SameFirstLine::default();
    for source in sources.sources(&FindSource::FirstLine(first_line))? {
        let Some(path) = source.paths.first().map(|seen| seen.path.as_str()) else { continue };
        same.add(path, sizes_of(&source), &source.read);
        if is_moved(&source) {
            same.moved.add(path, &source.read);
        }
    }
    Ok(same)
}

/// Returns the sizes that a file with the content of this source can have. A compressed file is
/// smaller than its content.
fn sizes_of(source: &Source) -> impl Iterator<Item = u64> {
    source.paths.iter().map(|seen| seen.size).chain([source.read.offset])
}

/// Checks whether the file is at none of the paths at which it was imported.
fn is_moved(source: &Source) -> bool {
    source.paths.iter().all(|seen| {
        let looked = path_of(&seen.path).symlink_metadata();
        looked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    })
}
