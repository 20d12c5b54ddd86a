//! The files of a session: the one it was imported from, and its sidecar files.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use forklore_core::{ErrorKind, SessionId};
use forklore_store::sources::{FindSource, Source, SourceId};
use serde::Serialize;

use super::is_erased;
use super::restore::Restored;
use super::{path_of, path_text};
use crate::{Engine, Error, Result};

/// A file that belongs to a session, as the store retains it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionFile {
    /// The path relative to the directory of the session's own file. Components are separated by
    /// `/`; none is `..`. A path that is not UTF-8 begins with `bytes://`, and each byte that is
    /// not UTF-8, and `%` itself, is encoded as `%` and two hexadecimal digits.
    pub name: String,
    /// The path at which the file was seen.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The sha256 of the bytes, in hex.
    pub sha256: String,
    /// The revision: the number of times the file was rewritten in place before.
    pub revision: u64,
    /// Whether this is the latest revision, the one restored by name.
    pub latest: bool,
    /// Whether this is the file that the session was imported from.
    pub own: bool,
    /// Whether the bytes were erased because a session was deleted.
    pub gone: bool,
    #[serde(skip)]
    relative_path: PathBuf,
    #[serde(skip)]
    source: Source,
}

impl Engine {
    /// Lists the retained files of a session: first the one it was imported from, then its sidecar
    /// files by name, the latest revision of each first.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file.
    pub fn files(&self, session: &SessionId) -> Result<Vec<SessionFile>> {
        let header = self.store().header(session)?;
        let found = self.sources()?.sources(&FindSource::Session(header.id))?;
        let Some(own) = found.into_iter().next() else {
            return Err(Error::NoSource(session.clone()));
        };
        let mut files = Vec::new();
        for source in self.sidecars_of(&own)? {
            let gone = match is_erased(self.sources()?, &source) {
                // Reading the file will report the damage.
                Err(error) if error.kind() == ErrorKind::Corrupt => false,
                gone => gone?,
            };
            let path = source.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
            let at = path_of(&path);
            let mut files_of_session = own.paths.iter().map(|seen| path_of(&seen.path));
            // A path outside the directory of the session's file is no sidecar.
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
    /// `conflict` if its bytes were erased because a session was deleted, `corrupt` if the bytes
    /// differ from those that were imported.
    pub fn restore_file(&self, file: &SessionFile, out: &mut dyn Write) -> Result<Restored> {
        self.restore_source(file.source.clone(), out)
    }

    /// Returns the sidecar files of a source.
    pub(crate) fn sidecars_of(&self, own: &Source) -> Result<Vec<Source>> {
        let mut found: Vec<Source> = Vec::new();
        for seen in &own.paths {
            found.extend(self.sources()?.sources(&FindSource::SidecarsOf(seen.path.clone()))?);
        }
        Ok(found)
    }
}

impl SessionFile {
    /// Returns the id of the file's source in the store.
    #[must_use]
    pub fn source(&self) -> SourceId {
        self.source.id
    }

    /// Returns [`name`](SessionFile::name) as a path, with its exact bytes.
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

/// Returns the path if it is not empty and all of its components are normal ones, without `/`, `.`
/// or `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_there = path.components().next().is_some();
    (is_there && path.components().all(is_plain)).then(|| path.to_owned())
}
