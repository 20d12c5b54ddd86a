//! Whether a file is known, and what became of it since (SPEC 11).

use std::io;
use std::path::Path;

use forklore_engine::sources::path_of;
use forklore_engine::{Engine, Error, Result};
use forklore_store::sources::{FindSource, SeenFile, Source, SourceId, Sources};
use sha2::Sha256;

use crate::opened::{Opened, record_key};
use crate::resume_state::ResumeState;
use crate::seen;

/// What a look at a file and at the sources says.
pub(crate) enum SourceState {
    /// Size and time are those of the last look.
    Unchanged(Source),
    /// It begins with what was read of it.
    Grown(Source, Sha256),
    /// It is not known, or no longer what it was.
    New {
        /// How often the file of this path was rewritten.
        revision: u64,
        /// The latest source of this path.
        latest: Option<SourceId>,
        /// The source of the revision whose records it may repeat.
        earlier: Option<Box<Source>>,
    },
}

/// The source of a file that is as it was when it was read last; the file is not opened.
pub(crate) fn unchanged(sources: &dyn Sources, path: &Path) -> Result<Option<Source>> {
    let Ok(seen) = seen::look(path) else {
        return Ok(None);
    };
    let latest = latest(sources, &seen)?;
    Ok(latest.filter(|source| source.paths.contains(&seen)))
}

/// The latest source of this path.
pub(crate) fn latest(sources: &dyn Sources, seen: &SeenFile) -> Result<Option<Source>> {
    Ok(sources.sources(&FindSource::Latest(seen.path.clone()))?.into_iter().next())
}

/// Recognises a file by its path, by equal content, or as one that was moved.
pub(crate) fn look_up(sources: &dyn Sources, file: &Opened) -> Result<SourceState> {
    if let Some(source) = latest(sources, &file.seen)? {
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
    for source in sources.sources(&FindSource::FirstLine(file.first_line()))? {
        let equal = source.read.offset == file_len(file)?
            || source.paths.iter().any(|seen| seen.size == file.seen.size);
        let moved = || source.paths.iter().all(|seen| is_gone(&seen.path));
        if (equal || moved())
            && let Some(hash) = prefix(file, &source)?
        {
            return Ok(SourceState::Grown(source, hash));
        }
    }
    Ok(SourceState::New { revision: 0, latest: None, earlier: None })
}

/// The latest source of this path that has sessions.
fn with_sessions(sources: &dyn Sources, path: &str) -> Result<Option<Box<Source>>> {
    let mut all = sources.sources(&FindSource::Path(path.to_owned()))?;
    all.sort_by_key(|source| source.id);
    Ok(all.into_iter().rfind(|source| !source.sessions.is_empty()).map(Box::new))
}

/// The same, but to be read on where the file is not changed and its session is called
/// otherwise than before.
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
        known => Ok(known),
    }
}

/// Whether the session of the source has this title, where its agent's list has one for it.
pub(crate) fn is_called(source: &Source, title: Option<&str>) -> bool {
    let Some(title) = title else { return true };
    ResumeState::read(&source.read.state).header.title_key == Some(record_key(title.as_bytes()))
}

/// Whether an earlier version made a root of the source's session, although its file continues
/// another one that was not there.
pub(crate) fn lacks_base(engine: &Engine, source: &Source) -> Result<bool> {
    let Some(first) = source.sessions.first() else { return Ok(false) };
    if ResumeState::read(&source.read.state).facts.base.is_none() {
        return Ok(false);
    }
    let header = engine.store().header(&first.id)?;
    Ok(header.parent_id.is_none() && header.deleted.is_none())
}

fn prefix(file: &Opened, source: &Source) -> Result<Option<Sha256>> {
    if file.document && source.read.offset != file.seen.size {
        // A document does not grow at its end: it is written anew.
        return Ok(None);
    }
    let found = file.prefix(source.read.offset, &source.read.sha256);
    found.map_err(|error| unreadable(file, error))
}

fn file_len(file: &Opened) -> Result<u64> {
    file.len().map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Opened, error: io::Error) -> Error {
    Error::io(format!("cannot read {}", file.seen.path), error)
}

fn is_gone(path: &str) -> bool {
    let looked = path_of(path).symlink_metadata();
    looked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
