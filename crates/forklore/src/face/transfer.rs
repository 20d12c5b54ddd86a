//! The methods that transfer data: importing and exporting files, and copying a store to another.
//!
//! A method that produces output takes a [`Write`] by value, uses it on the pool, and returns it
//! with the answer.

use std::io::Write;
use std::path::PathBuf;

use forklore_core::{AttachmentId, SessionId};
use forklore_engine::{ExportTo, Exported, LogRange, Recovery, Restored, Result, StoredFile};
use forklore_import::{ImportOptions, ImportReport, Importer, Progressed, Survey};

use super::Forklore;

impl Forklore {
    /// Imports files, and the files in directories that a dialect recognizes, the oldest first
    /// (docs/semantics.md, Sources). Continues known files at the last imported byte. A problem
    /// with one file does not stop the others. `progress` is called on the pool.
    ///
    /// # Errors
    /// `unsupported` if the store does not retain imported files, `invalid_args` for an unknown
    /// dialect, and failures of the store. Problems with files are in the report.
    pub async fn import(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
        options: ImportOptions,
        mut progress: impl FnMut(Progressed<'_>) + Send + 'static,
    ) -> Result<ImportReport> {
        let paths: Vec<_> = paths.into_iter().collect();
        self.step(move |engine| Importer::new(engine).import(&paths, &options, &mut progress)).await
    }

    /// Copies everything that can be read from this store into the store of `into`, which must be
    /// empty. Writes nothing to this store. Damage is listed in the report and is not an error.
    ///
    /// # Errors
    /// `already_exists` if `into` has a session; also any store failure that is not damage.
    pub async fn recover(&self, into: &Self) -> Result<Recovery> {
        let into = into.engine.clone();
        self.step(move |engine| engine.recover(&into)).await
    }

    /// Writes the file that the session was imported from to `out`, up to the last imported byte.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file, `conflict` if a session of the file
    /// was deleted, `corrupt` if the bytes differ from those that were imported.
    pub async fn restore<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Restored, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.restore(&session, &mut out)?, out))).await
    }

    /// Lists the retained files of a session: first the one it was imported from, then its sidecar
    /// files by name, the latest revision of each first.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file.
    pub async fn files(&self, session: &SessionId) -> Result<Vec<StoredFile>> {
        let session = session.clone();
        self.step(move |engine| engine.files(&session)).await
    }

    /// Writes a file of a session to `out`, byte for byte.
    ///
    /// # Errors
    /// `conflict` if its bytes were erased because a session was deleted, `corrupt` if the bytes
    /// differ from those that were imported.
    pub async fn restore_file<W: Write + Send + 'static>(
        &self,
        file: &StoredFile,
        mut out: W,
    ) -> Result<(Restored, W)> {
        let file = file.clone();
        self.step(move |engine| Ok((engine.restore_file(&file, &mut out)?, out))).await
    }

    /// Writes the bytes of an attachment to `out` and returns their number. The digest is verified
    /// only at the end: after an error, discard what was written.
    ///
    /// # Errors
    /// `not_found` if the store does not have the attachment, `corrupt` if its bytes do not match
    /// its digest, `unsupported` if the store has no attachments, or the error of writing to `out`.
    pub async fn read_attachment<W: Write + Send + 'static>(
        &self,
        id: &AttachmentId,
        mut out: W,
    ) -> Result<(u64, W)> {
        let id = *id;
        self.step(move |engine| Ok((engine.read_attachment(&id, &mut out)?, out))).await
    }

    /// Writes the conversation of a session as `{role, content}` lines.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, or the error of writing to `out`.
    pub async fn export_plain<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.export_plain(&session, &mut out)?, out))).await
    }

    /// Like [`Self::export_plain`], for the first `end` messages; `None` means all.
    ///
    /// # Errors
    /// The errors of [`Self::export_plain`].
    pub async fn export_plain_until<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        end: Option<u64>,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.export_plain_until(&session, end, &mut out)?, out)))
            .await
    }

    /// Writes a session as a file of an agent, up to a cut if the request has one. Returns what
    /// could not be expressed in that format.
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut), `unsupported` if no file of that dialect can be
    /// written, or the error of writing to `out`.
    pub async fn export_to<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        request: ExportTo,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let session = session.clone();
        self.step(move |engine| {
            let exported = engine.export_to(&session, &request)?.write(&mut out)?;
            Ok((exported, out))
        })
        .await
    }

    /// Returns the names of the agents whose files can be written.
    #[must_use]
    pub fn agents_to_export_to(&self) -> Vec<&'static str> {
        self.engine.agents_to_export_to()
    }

    /// Counts the files at these paths and in these directories whose names match a dialect, and
    /// those of them that are in the store. Opens no file.
    ///
    /// # Errors
    /// `unsupported` if the store does not retain imported files, `invalid_args` for an unknown
    /// dialect, and failures of the store.
    pub async fn survey(
        &self,
        dialect: &str,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Survey> {
        let (dialect, locations) = (dialect.to_owned(), paths.into_iter().collect::<Vec<_>>());
        self.step(move |engine| Importer::new(engine).survey(&dialect, &locations)).await
    }

    /// Returns the sessions imported from any revision of the file at this path. The file need not
    /// exist any more.
    ///
    /// # Errors
    /// `unsupported` if the store does not retain imported files, and failures of the store.
    pub async fn imported(&self, path: PathBuf) -> Result<Vec<SessionId>> {
        self.step(move |engine| Importer::new(engine).sessions_of(&path)).await
    }

    /// Writes the events of a session as envelope lines. Returns the seq of the next event after
    /// them.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, or the error of writing to `out`.
    pub async fn log<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        range: LogRange,
        mut out: W,
    ) -> Result<(u64, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.log(&session, range, &mut out)?, out))).await
    }
}
