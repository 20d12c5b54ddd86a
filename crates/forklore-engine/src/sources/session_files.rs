//! The files of a session: the one that it was read from, and those beside it.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use forklore_core::{ErrorKind, SessionId};
use forklore_store::sources::{FindSource, Source, SourceId};
use serde::Serialize;

use super::is_erased;
use super::restore::Restored;
use super::{path_of, path_text};
use crate::{Engine, Error, Result};

/// A file that belongs to a session, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionFile {
    /// Where it lies, seen from the folder of the session's own file. Parts are divided by `/`, and
    /// none of them is `..`. One that is no UTF-8 begins with `bytes://`, and `%` and two
    /// hexadecimal digits stand in it for each byte that is none, and for `%`.
    pub name: String,
    /// Where it was seen.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Their sha256, in hex.
    pub sha256: String,
    /// How often it had been rewritten before.
    pub revision: u64,
    /// Whether this is the one to be restored by its name; others are earlier revisions.
    pub latest: bool,
    /// Whether it is the one that the session was read from.
    pub own: bool,
    /// Whether its bytes were erased with a session.
    pub gone: bool,
    #[serde(skip)]
    relative_path: PathBuf,
    #[serde(skip)]
    source: Source,
}

impl Engine {
    /// The files that are kept of a session: the one that it was read from, then those beside it
    /// in the order of their names, the latest revision of each first (SPEC 11).
    ///
    /// # Errors
    /// `not_found` when the session was read from no file.
    pub fn files(&self, session: &SessionId) -> Result<Vec<SessionFile>> {
        let header = self.store().header(session)?;
        let found = self.sources()?.sources(&FindSource::Session(header.id))?;
        let Some(own) = found.into_iter().next() else {
            return Err(Error::NoSource(session.clone()));
        };
        let mut files = Vec::new();
        for source in self.sidecars_of(&own)? {
            let gone = match is_erased(self.sources()?, &source) {
                // It is named when it is read.
                Err(error) if error.kind() == ErrorKind::Corrupt => false,
                gone => gone?,
            };
            let path = source.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
            let at = path_of(&path);
            let mut files_of_session = own.paths.iter().map(|seen| path_of(&seen.path));
            // Nothing else is beside the file.
            let Some(relative) =
                files_of_session.find_map(|of| plain(at.strip_prefix(of.parent()?).ok()?))
            else {
                continue;
            };
            files.push(SessionFile::of(source, relative, path, gone));
        }
        files.sort_by(|a, b| (&a.name, b.source.id).cmp(&(&b.name, a.source.id)));
        let mut last: Option<String> = None;
        for file in &mut files {
            file.latest = last.as_ref() != Some(&file.name);
            last = Some(file.name.clone());
        }
        let gone = self.has_deleted(&own)?;
        let path = own.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
        let file_name = path_of(&path).file_name().and_then(|name| plain(Path::new(name)));
        let first = SessionFile::of(own, file_name.unwrap_or_default(), path, gone);
        files.insert(0, SessionFile { own: true, ..first });
        Ok(files)
    }

    /// Writes a file of a session to `out`, byte for byte.
    ///
    /// # Errors
    /// `conflict` when its bytes went with a session that was deleted, `corrupt` when they are no
    /// longer those that were read.
    pub fn restore_file(&self, file: &SessionFile, out: &mut dyn Write) -> Result<Restored> {
        self.restore_source(file.source.clone(), out)
    }

    /// The sources that lie beside another.
    pub(crate) fn sidecars_of(&self, own: &Source) -> Result<Vec<Source>> {
        let mut found: Vec<Source> = Vec::new();
        for seen in &own.paths {
            found.extend(self.sources()?.sources(&FindSource::SidecarsOf(seen.path.clone()))?);
        }
        Ok(found)
    }
}

impl SessionFile {
    /// Its number in the store.
    #[must_use]
    pub fn source(&self) -> SourceId {
        self.source.id
    }

    /// Its [`name`](SessionFile::name) as a path, byte for byte.
    #[must_use]
    pub fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    fn of(source: Source, relative_path: PathBuf, path: String, gone: bool) -> Self {
        Self {
            name: path_text(&relative_path),
            path,
            relative_path,
            bytes: source.read.offset,
            sha256: source.read.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            revision: source.revision,
            latest: true,
            own: false,
            gone,
            source,
        }
    }
}

/// A path of nothing but plain parts.
fn plain(path: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_there = path.components().next().is_some();
    (is_there && path.components().all(is_plain)).then(|| path.to_owned())
}
