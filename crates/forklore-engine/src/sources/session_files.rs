//! Lists the files of a session: the file from which it was imported, and its sidecar files.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use forklore_api::SessionFile;
use forklore_core::{ErrorKind, Header, SessionId, SessionKind};
use forklore_store::sources::{FindSource, Source, SourceId, WaitingLine};

use super::is_erased;
use super::restore::Restored;
use super::{path_of, path_text};
use crate::{Engine, Error, Result};

/// A file that a store retains for a session: the imported session file, or a sidecar (another file
/// that the agent stored with it).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFile {
    /// The name, size, digest and state of the file.
    pub about: SessionFile,
    relative_path: PathBuf,
    source: Source,
}

impl Engine {
    /// Lists the imported files of a session that the store retains. The session file itself comes
    /// first. Then follow its sidecars (files that the agent stored with it), ordered by name and
    /// then by revision, the latest first. A fork that was not imported itself has the sidecars of
    /// the session files whose events it inherits, unless it was detached.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file and inherits no sidecars.
    pub fn files(&self, session: &SessionId) -> Result<Vec<StoredFile>> {
        let header = self.store().header(session)?;
        let Some(own) = self.source_of(&header.id)? else {
            let inherited = self.inherited_files(header)?;
            return if inherited.is_empty() {
                Err(Error::NoSource(session.clone()))
            } else {
                Ok(inherited)
            };
        };
        let mut files = self.sidecar_files(&own)?;
        let gone = self.has_deleted(&own)?;
        let path = own.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
        let file_name = path_of(&path).file_name().and_then(|name| plain(Path::new(name)));
        let waiting = match self.waiting_line(&own) {
            // The damage is reported when the file is read.
            Err(error) if error.kind() == ErrorKind::Corrupt => WaitingLine::default(),
            waiting => waiting?,
        };
        let mut first = StoredFile::of(own, &waiting, file_name.unwrap_or_default(), path, gone);
        first.about.own = true;
        files.insert(0, first);
        Ok(files)
    }

    /// Lists the sidecars of the session files whose events a session inherits. The files of its
    /// nearest ancestor come first.
    fn inherited_files(&self, mut header: Header) -> Result<Vec<StoredFile>> {
        let mut files = Vec::new();
        let mut sources: Vec<SourceId> = Vec::new();
        while header.kind == SessionKind::Branch
            && !header.detached
            && let Some(parent) = header.parent_id
        {
            header = self.store().header(&parent)?;
            if let Some(source) = self.source_of(&parent)?
                && !sources.contains(&source.id)
            {
                sources.push(source.id);
                files.extend(self.sidecar_files(&source)?);
            }
        }
        Ok(files)
    }

    /// Returns the file from which a session was imported; `None` if it was not imported. If the
    /// store lists several files, returns the first.
    pub(crate) fn source_of(&self, session: &SessionId) -> Result<Option<Source>> {
        let found = self.sources()?.sources(&FindSource::Session(session.clone()))?;
        Ok(found.into_iter().next())
    }

    /// Lists the sidecars of the session file `own`, ordered by name and then by revision, the
    /// latest first.
    pub(crate) fn sidecar_files(&self, own: &Source) -> Result<Vec<StoredFile>> {
        let mut files = Vec::new();
        for source in self.sidecars_of(own)? {
            let gone = match is_erased(self.sources()?, &source) {
                // The damage is reported when the file is read.
                Err(error) if error.kind() == ErrorKind::Corrupt => false,
                gone => gone?,
            };
            let path = source.paths.first().map(|seen| seen.path.clone()).unwrap_or_default();
            let at = path_of(&path);
            let mut files_of_session = own.paths.iter().map(|seen| path_of(&seen.path));
            // A file outside the folder of the session file is not a sidecar.
            let Some(relative) =
                files_of_session.find_map(|of| plain(at.strip_prefix(of.parent()?).ok()?))
            else {
                continue;
            };
            files.push(StoredFile::of(source, &WaitingLine::default(), relative, path, gone));
        }
        files.sort_by(|a, b| (&a.about.name, b.source.id).cmp(&(&b.about.name, a.source.id)));
        let mut last: Option<String> = None;
        for StoredFile { about: file, .. } in &mut files {
            file.latest = last.as_ref() != Some(&file.name);
            last = Some(file.name.clone());
        }
        Ok(files)
    }

    /// Writes one of a session's imported files to `out`, byte for byte.
    ///
    /// # Errors
    /// `conflict` if the file's bytes were erased because a session was deleted, `corrupt` if the
    /// restored bytes differ from the imported bytes. In the second case, the restored bytes were
    /// already written to `out`.
    pub fn restore_file(&self, file: &StoredFile, out: &mut dyn Write) -> Result<Restored> {
        self.restore_source(file.source.clone(), out)
    }

    /// Returns the sidecars of the session file `own`: files that its agent stores with it.
    /// Includes the sidecars of every path at which an import found the session file.
    pub(crate) fn sidecars_of(&self, own: &Source) -> Result<Vec<Source>> {
        let mut found: Vec<Source> = Vec::new();
        for seen in &own.paths {
            found.extend(self.sources()?.sources(&FindSource::SidecarsOf(seen.path.clone()))?);
        }
        Ok(found)
    }
}

impl StoredFile {
    /// Returns the id of this imported file in the store.
    #[must_use]
    pub fn source(&self) -> SourceId {
        self.source.id
    }

    /// Returns the file's [`name`](SessionFile::name) as a relative path, with its exact bytes.
    #[must_use]
    pub fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    /// Describes an imported file. `waiting` is its unfinished last line, which comes after the
    /// bytes that were read as records.
    fn of(
        source: Source,
        waiting: &WaitingLine,
        relative_path: PathBuf,
        path: String,
        gone: bool,
    ) -> Self {
        let sha256 = waiting.sha256().unwrap_or(&source.read.sha256);
        let about = SessionFile {
            name: path_text(&relative_path),
            path,
            bytes: source.read.offset + waiting.bytes().len() as u64,
            sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            revision: source.revision,
            latest: true,
            own: false,
            gone,
        };
        Self { about, relative_path, source }
    }
}

/// Returns `path`, or `None` if it is empty, is not relative, begins with the component `.`, or has
/// a component `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_there = path.components().next().is_some();
    (is_there && path.components().all(is_plain)).then(|| path.to_owned())
}
