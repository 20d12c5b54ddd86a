//! The verbs that move things: files into the store and out of it, all of it into another.
//!
//! What they write goes to a [`Write`] of the caller's, which moves to the pool and comes back
//! with the answer.

use std::io::Write;
use std::path::PathBuf;

use forklore_core::{AttachmentId, SessionId};
use forklore_engine::{ExportTo, Exported, LogRange, Recovery, Restored, Result, SessionFile};
use forklore_import::{ImportOptions, ImportReport, Importer, Progressed, Survey};

use super::Forklore;

impl Forklore {
    /// Imports files, and the files in folders that a dialect recognises, the oldest first
    /// (SPEC 11). Known files are read on from where they stood. A problem of one file stops no
    /// other. `progress` is called on the pool.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, `invalid_args` for an unknown dialect, and
    /// failures of the store. What is wrong with a file is in the report.
    pub async fn import(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
        options: ImportOptions,
        mut progress: impl FnMut(Progressed<'_>) + Send + 'static,
    ) -> Result<ImportReport> {
        let paths: Vec<_> = paths.into_iter().collect();
        self.step(move |engine| Importer::new(engine).import(&paths, &options, &mut progress)).await
    }

    /// Copies everything that can be read here into the store of `into`, which must be empty.
    /// Nothing is written here.
    ///
    /// # Errors
    /// `already_exists` when `into` holds a session, and failures of a store that are no damage.
    /// Damage is in the report.
    pub async fn recover(&self, into: &Self) -> Result<Recovery> {
        let into = into.engine.clone();
        self.step(move |engine| engine.recover(&into)).await
    }

    /// Writes the file that the session was read from to `out`, as far as it was read (SPEC 11).
    ///
    /// # Errors
    /// `not_found` when the session was read from no file, `conflict` when a session of the file
    /// was deleted, `corrupt` when the bytes are no longer those that were read.
    pub async fn restore<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Restored, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.restore(&session, &mut out)?, out))).await
    }

    /// The files that are kept of a session: the one that it was read from, then those beside it
    /// in the order of their names, the latest revision of each first (SPEC 11).
    ///
    /// # Errors
    /// `not_found` when the session was read from no file.
    pub async fn files(&self, session: &SessionId) -> Result<Vec<SessionFile>> {
        let session = session.clone();
        self.step(move |engine| engine.files(&session)).await
    }

    /// Writes a file of a session to `out`, byte for byte.
    ///
    /// # Errors
    /// `conflict` when its bytes went with a session that was deleted, `corrupt` when they are no
    /// longer those that were read.
    pub async fn restore_file<W: Write + Send + 'static>(
        &self,
        file: &SessionFile,
        mut out: W,
    ) -> Result<(Restored, W)> {
        let file = file.clone();
        self.step(move |engine| Ok((engine.restore_file(&file, &mut out)?, out))).await
    }

    /// Writes the bytes of an attachment to `out`; how many there are. Whether they are sound is
    /// known at their end only: after an error, what was written is of no use.
    ///
    /// # Errors
    /// `not_found` when the store has not got it, `corrupt` when its bytes are not those that were
    /// attached, `unsupported` when the store keeps no attachments, or what writing came to.
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
    /// `not_found`, `corrupt`, or what writing to `out` came to.
    pub async fn export_plain<W: Write + Send + 'static>(
        &self,
        session: &SessionId,
        mut out: W,
    ) -> Result<(Exported, W)> {
        let session = session.clone();
        self.step(move |engine| Ok((engine.export_plain(&session, &mut out)?, out))).await
    }

    /// The same of the first `end` messages.
    ///
    /// # Errors
    /// Those of [`Self::export_plain`].
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

    /// Writes a session as a file of an agent, up to a place if the request names one, and tells
    /// what could not be said in that form.
    ///
    /// # Errors
    /// `not_found`, `invalid_args` (the cut), `unsupported` when no such file can be written, or
    /// what writing to `out` came to.
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

    /// The agents whose files can be written.
    #[must_use]
    pub fn agents_to_export_to(&self) -> Vec<&'static str> {
        self.engine.agents_to_export_to()
    }

    /// Looks at the files, and those in folders, that by their names are a dialect's: how many
    /// there are, and how many of them are in the store. No file is opened.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, `invalid_args` for an unknown dialect, and
    /// failures of the store.
    pub async fn survey(
        &self,
        dialect: &str,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Survey> {
        let (dialect, places) = (dialect.to_owned(), paths.into_iter().collect::<Vec<_>>());
        self.step(move |engine| Importer::new(engine).survey(&dialect, &places)).await
    }

    /// The sessions read from the file at this path, which may be gone, in any revision of it.
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, and failures of the store.
    pub async fn imported(&self, path: PathBuf) -> Result<Vec<SessionId>> {
        self.step(move |engine| Importer::new(engine).sessions_of(&path)).await
    }

    /// Writes the events of a session as envelope lines (SPEC 2), and tells the seq to go on from.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, or what writing to `out` came to.
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
