//! The methods that transfer data: importing and exporting files, and copying a store to another.
//!
//! A method that produces output takes a [`Write`] by value, uses it on the pool, and returns it
//! with the answer.

use std::io::Write;
use std::path::PathBuf;

use forklore_core::{AttachmentId, Selector, SessionId};
use forklore_engine::{
    Engine, ExportTo, Exported, LogRange, Recovery, Restored, Result, StoredFile, Transfer,
    Transferred,
};
use forklore_import::{ImportOptions, ImportReport, Importer, Progressed, Survey};

use forklore_page::Format;

use super::Forklore;

impl Forklore {
    /// Copies sessions, and everything that belongs to them, into another store
    /// (docs/semantics.md, Moving between stores). Copies only what that store lacks, and
    /// overwrites nothing there.
    ///
    /// # Errors
    /// `not_found` if the requested session does not exist, or a failure that concerns one of the
    /// stores as a whole. The answer lists sessions that were skipped.
    pub async fn transfer(&self, into: &Self, request: Transfer) -> Result<Transferred> {
        let into = into.engine().clone();
        self.step(move |engine| engine.transfer(&into, &request, &mut |_| true)).await
    }

    /// Imports session files of agents, the oldest first (docs/semantics.md, Sources). `paths`
    /// names files and directories. In a directory, imports every file whose agent format forklore
    /// supports. The import of a file that was imported before continues after the last imported
    /// byte. A problem with one file does not stop the others. `progress` is called on a blocking
    /// thread.
    ///
    /// # Errors
    /// `unsupported` if the store cannot retain imported files, `invalid_args` for an unknown
    /// format (dialect), and failures of the store. The returned report lists problems with files.
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
    /// empty. Writes nothing to this store. The returned report lists damage, which is not an
    /// error.
    ///
    /// # Errors
    /// `already_exists` if the store of `into` has a session; also any store failure that is not
    /// damage.
    pub async fn recover(&self, into: &Self) -> Result<Recovery> {
        let into = into.engine.clone();
        self.step(move |engine| engine.recover(&into)).await
    }

    /// Writes to `out` the file from which `session` was imported, up to the last imported byte.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file, `conflict` if a session that was
    /// imported from the same file was deleted, `corrupt` if the bytes differ from those that were
    /// imported.
    pub async fn restore<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Restored, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.restore(&session, &mut out)?, out))).await
    }

    /// Lists the stored files of an imported session: first the session file, then its sidecar
    /// files by name. Sidecar files are those that the agent stored next to the session file. If a
    /// file was rewritten, each version is listed, the latest first.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file.
    pub async fn files(&self, session: &SessionId) -> Result<Vec<StoredFile>> {
        let session = session.clone();
        self.step(move |engine| engine.files(&session)).await
    }

    /// Writes `file`, a stored file of an imported session, to `out`, byte for byte.
    ///
    /// # Errors
    /// `conflict` if the file's bytes were erased because a session was deleted, `corrupt` if the
    /// bytes differ from those that were imported.
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

    /// Writes the conversation of a session as JSON lines, one `{role, content}` object per
    /// message.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, or the error of writing to `out`.
    pub async fn export_plain<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.export_plain(&session, &mut out)?, out))).await
    }

    /// Writes the conversation of a session as one page of HTML or Markdown, up to the cut `at`.
    /// `None` writes the whole conversation.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `invalid_args` if it has no such
    /// cut, `corrupt` if its stored data is damaged, or the error of writing to `out`.
    pub async fn export_page<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        format: Format,
        at: Option<&Selector>,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let (session, at) = (session.clone(), at.cloned());
        let write = move |engine: &Engine| {
            let exported = forklore_page::write(engine, &session, format, at.as_ref(), &mut out)?;
            Ok((exported, out))
        };
        self.step(write).await
    }

    /// Writes the first `end` messages of a session as JSON lines, one `{role, content}` object per
    /// message. `None` means all messages.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, or the error of writing to `out`.
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

    /// Writes a session as a file in the format of an agent, up to a cut if the request has one.
    /// The answer lists what that format cannot express.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `invalid_args` if the session has
    /// no such cut, `unsupported` if files of the requested format cannot be written, or the error
    /// of writing to `out`.
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

    /// Returns the names of the agents in whose file formats sessions can be exported.
    #[must_use]
    pub fn agents_to_export_to(&self) -> Vec<&'static str> {
        self.engine.agents_to_export_to()
    }

    /// Counts the session files of the agent format `dialect`. Every file among `paths` counts. In
    /// a directory among `paths`, a file counts if its name fits the format. Also counts how many
    /// of these files are imported in the store. Opens no file, with one exception: if the store
    /// has sessions, opens files that may contain many sessions, such as databases, to compare
    /// these sessions with the store.
    ///
    /// # Errors
    /// `unsupported` if the store cannot retain imported files, `invalid_args` for an unknown
    /// format, and failures of the store.
    pub async fn survey(
        &self,
        dialect: &str,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Survey> {
        let (dialect, locations) = (dialect.to_owned(), paths.into_iter().collect::<Vec<_>>());
        self.step(move |engine| Importer::new(engine).survey(&dialect, &locations)).await
    }

    /// Returns the sessions that were imported from the file at this path, without deleted
    /// sessions. Includes the sessions of earlier versions, if the file was rewritten. The file
    /// need not exist any more.
    ///
    /// # Errors
    /// `unsupported` if the store cannot retain imported files, and failures of the store.
    pub async fn imported(&self, path: PathBuf) -> Result<Vec<SessionId>> {
        self.step(move |engine| Importer::new(engine).sessions_of(&path)).await
    }

    /// Writes the events of a session as JSON lines, one envelope (an event with its metadata) per
    /// line. Returns the seq that follows the last written event.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if its stored data is
    /// damaged, or the error of writing to `out`.
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
