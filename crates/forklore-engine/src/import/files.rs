//! The files of a session: the one that it was read from, and those beside it.

use std::io::Write;
use std::path::{Component, Path};

use forklore_model::{ErrorKind, SessionId};
use forklore_store::sources::{FindSource, Source, SourceId};
use serde::Serialize;

use super::keep::is_erased;
use super::restore::Restored;
use crate::{Engine, Error, Result};

/// A file that belongs to a session, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionFile {
    /// Where it lies, seen from the folder of the session's own file. Parts are divided by `/`, and
    /// none of them is `..`.
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
            return Err(Error::NoMatch { what: format!("a file that {session} was read from") });
        };
        let mut files = Vec::new();
        for source in self.beside(&own)? {
            let gone = match is_erased(self.sources()?, &source) {
                // It is named when it is read.
                Err(error) if error.kind() == ErrorKind::Corrupt => false,
                gone => gone?,
            };
            let folders = own.paths.iter().filter_map(|seen| Path::new(&seen.path).parent());
            let path = source.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
            let below = folders.filter_map(|folder| Path::new(&path).strip_prefix(folder).ok());
            // Nothing else is beside the file.
            let Some(name) = below.filter_map(plain).next() else { continue };
            files.push(SessionFile::of(source, name, path, gone));
        }
        files.sort_by(|a, b| (&a.name, b.source.id).cmp(&(&b.name, a.source.id)));
        let mut last: Option<String> = None;
        for file in &mut files {
            file.latest = last.as_ref() != Some(&file.name);
            last = Some(file.name.clone());
        }
        let gone = self.has_deleted(&own)?;
        let path = own.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
        let name = Path::new(&path).file_name().and_then(|name| plain(Path::new(name)));
        let first = SessionFile::of(own, name.unwrap_or_default(), path, gone);
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
    pub(crate) fn beside(&self, own: &Source) -> Result<Vec<Source>> {
        let mut found: Vec<Source> = Vec::new();
        for seen in &own.paths {
            found.extend(self.sources()?.sources(&FindSource::Beside(seen.path.clone()))?);
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

    fn of(source: Source, name: String, path: String, gone: bool) -> Self {
        Self {
            name,
            path,
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

/// A path of nothing but plain parts, divided by `/`.
fn plain(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        let Component::Normal(part) = component else { return None };
        parts.push(part.to_str()?);
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
