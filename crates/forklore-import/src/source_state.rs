//! Determines whether a file was imported before, and how it has changed since (docs/semantics.md,
//! Sources).

use std::io;
use std::path::Path;

use forklore_engine::{Engine, Error, Result};
use forklore_store::Store;
use forklore_store::sources::{FindSource, Source, SourceId};
use sha2::Sha256;

use crate::file_metadata;
use crate::first_lines::FirstLines;
use crate::opened::Opened;
use crate::record_keys::record_key;
use crate::resume_state::ResumeState;

/// How a file differs from what the store has of it.
pub(crate) enum SourceState {
    /// The file's size and modification time are the same as at its last import.
    Unchanged(Source),
    /// The file begins with the bytes that earlier imports read, and may have more. The second
    /// value is the sha256 state of those bytes.
    Grown(Source, Sha256),
    /// The file was never imported, or was rewritten after its last import.
    New {
        /// How often the file at this path was rewritten, as far as imports noticed. It is 0 for a
        /// new file.
        revision: u64,
        /// The id under which the store has the last imported content of this path; `None` for a
        /// new file.
        latest: Option<SourceId>,
        /// The store's copy of the file's content before it was rewritten. The rewritten file may
        /// repeat records of that content. `None` if there is no such copy, or if the file must
        /// not share records with it.
        earlier: Option<Box<Source>>,
    },
}

/// Returns what the store has of the file at `path`. Returns `None` if the file was not imported,
/// has changed since its last import, or does not exist. Compares size and modification time, and
/// does not open the file.
pub(crate) fn unchanged(sources: &dyn Store, path: &Path) -> Result<Option<Source>> {
    let Ok(seen) = file_metadata::look(path) else {
        return Ok(None);
    };
    let latest = latest(sources, &seen.path)?;
    Ok(latest.filter(|source| source.paths.contains(&seen)))
}

/// Returns the store's latest copy of the content at this path. Returns `None` if the path was never
/// imported.
pub(crate) fn latest(sources: &dyn Store, path: &str) -> Result<Option<Source>> {
    Ok(sources.sources(&FindSource::Latest(path.to_owned()))?.into_iter().next())
}

/// Compares a file with what the store has of it. Finds the stored file by the path. If the path is
/// new, searches by the first line, because the file may be a copy or was moved.
pub(crate) fn look_up(
    sources: &dyn Store,
    file: &Opened,
    first_lines: &mut FirstLines,
) -> Result<SourceState> {
    if let Some(source) = latest(sources, &file.seen.path)? {
        if source.paths.contains(&file.seen) {
            return Ok(SourceState::Unchanged(source));
        }
        return Ok(match prefix(file, &source)? {
            Some(hash) => SourceState::Grown(source, hash),
            None => {
                let earlier = with_sessions(sources, &file.seen.path)?;
                let (revision, latest) = (source.revision + 1, Some(source.id));
                SourceState::New { revision, latest, earlier }
            }
        });
    }
    Ok(match first_lines.find(sources, file)? {
        Some((source, hash)) if !is_rewritten(file, &source) => SourceState::Grown(source, hash),
        _ => SourceState::New { revision: 0, latest: None, earlier: None },
    })
}

/// Returns the store's latest copy of the content at this path, among the copies that have
/// sessions. Returns `None` if no copy has sessions.
fn with_sessions(sources: &dyn Store, path: &str) -> Result<Option<Box<Source>>> {
    let mut all = sources.sources(&FindSource::Path(path.to_owned()))?;
    all.sort_by_key(|source| source.id);
    Ok(all.into_iter().rfind(|source| !source.sessions.is_empty()).map(Box::new))
}

/// Returns the state `Grown` instead of `Unchanged` if the agent has given the session a new title.
/// The import then writes the title although the file has not changed. Otherwise returns `state`.
pub(crate) fn called(
    state: SourceState,
    file: &Opened,
    title: Option<&str>,
) -> Result<SourceState> {
    match state {
        SourceState::Unchanged(source) if !is_called(&source, title) => {
            let hash = prefix(file, &source)?;
            Ok(match hash {
                Some(hash) => SourceState::Grown(source, hash),
                None => SourceState::Unchanged(source),
            })
        }
        found => Ok(found),
    }
}

/// Checks whether the title that an import wrote last equals `title`, the one that the agent now
/// stores. Returns `true` if the agent stores no title.
pub(crate) fn is_called(source: &Source, title: Option<&str>) -> bool {
    let Some(title) = title else { return true };
    ResumeState::read(&source.read.state).header.title_key() == Some(record_key(title.as_bytes()))
}

/// Checks whether a file's first session is a root although the file continues another file.
/// Earlier versions of forklore created such a root if the other file was missing.
pub(crate) fn lacks_base(engine: &Engine, source: &Source) -> Result<bool> {
    let Some(first) = source.sessions.first() else { return Ok(false) };
    if ResumeState::read(&source.read.state).facts.base.is_none() {
        return Ok(false);
    }
    let header = engine.store().header(&first.id)?;
    Ok(header.parent_id.is_none() && header.deleted.is_none())
}

fn prefix(file: &Opened, source: &Source) -> Result<Option<Sha256>> {
    if is_rewritten(file, source) {
        return Ok(None);
    }
    let found = file.prefix(source.read.offset, &source.read.sha256);
    found.map_err(|error| unreadable(file, error))
}

/// Checks whether the file is a document that has changed. An agent never appends to a document but
/// rewrites it.
fn is_rewritten(file: &Opened, source: &Source) -> bool {
    file.document && source.read.offset != file.seen.size
}

fn unreadable(file: &Opened, error: io::Error) -> Error {
    Error::io(format!("cannot read {}", file.seen.path), error)
}
