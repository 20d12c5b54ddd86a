//! Commits changes of one session: writes all lines in one write, and returns only after the sync.

use forklore_core::SessionId;
use forklore_store::disk::os;
use forklore_store::feed::What;
use forklore_store::{Error, Result};

use crate::folder::{Folder, Mark};
use crate::fs::Open;
use crate::line;
use crate::log::of;
use crate::record::{Commit, State};
use crate::session::Session;

impl Folder {
    /// Opens the session with this id for writing; fails if it is deleted. First repairs the
    /// session's file, in case a killed process left an incomplete write.
    pub(crate) fn writable(&self, id: &SessionId) -> Result<Session> {
        let session = self.writable_in_trash(id)?;
        if session.header.deleted.is_some() {
            return Err(Error::Deleted(id.clone()));
        }
        Ok(session)
    }

    /// Opens the session with this id for writing like [`writable`](Self::writable), also if it is
    /// in the trash.
    ///
    /// During a change to several files, this method repairs the real file at once, before the
    /// change. The change then only adds bytes after acknowledged ones, so undoing the change
    /// removes nothing else.
    pub(crate) fn writable_in_trash(&self, id: &SessionId) -> Result<Session> {
        if let Some(real) = self.real() {
            match real.writable_in_trash(id) {
                // The change itself may create the session.
                Ok(_) | Err(Error::NotFound(_) | Error::Deleted(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let mut session = self.writable_any(id)?;
        if session.header.is_erased() {
            return Err(Error::Deleted(id.clone()));
        }
        if self.real().is_none() {
            self.recover(&mut session)?;
        }
        Ok(session)
    }

    fn writable_any(&self, id: &SessionId) -> Result<Session> {
        let found = self.find(id)?.ok_or_else(|| Error::NotFound(id.clone()))?;
        let session = self.load(&found, Open::Write).map_err(|error| of(error, id, None))?;
        let session = session.filter(|session| session.header.id == *id);
        session.ok_or_else(|| Error::NotFound(id.clone()))
    }

    /// Repairs a session's file after its writer was killed. Cuts off an incomplete step (one
    /// write to the file) at the end, and saves its bytes in the folder `aside`. Makes complete
    /// steps durable that the writer did not sync, because later writes depend on them.
    fn recover(&self, session: &mut Session) -> Result<()> {
        let Session { log, segment, header, .. } = &*session;
        if session.len > log.end {
            let torn = self.bytes(session, log.end, session.len)?;
            self.set_aside(segment, log.end, &torn)?;
            tracing::warn!(segment = %segment.name(), bytes = torn.len(), "cut a torn tail off and kept it");
            log.file.set_len(log.end).map_err(os("cutting back", &log.path))?;
            self.sync(&*log.file, &log.path)?;
        }
        if log.end > session.durable {
            // Write the bytes again. After an earlier failed sync the kernel may have dropped them,
            // and a second sync would then not write them to the disk.
            let from = session.step.max(session.durable);
            let step = self.bytes(session, from, log.end)?;
            self.write(&*log.file, &log.path, &step, from)?;
            self.sync(&*log.file, &log.path)?;
            if session.durable == 0 {
                // The writer may have been killed after it renamed the file and before it synced
                // the name.
                self.sync_name(&log.path)?;
            }
            self.mark(Mark::Session(header.id.clone(), segment.clone(), log.end));
        }
        session.len = session.log.end;
        session.durable = session.log.end;
        Ok(())
    }

    fn bytes(&self, session: &Session, from: u64, to: u64) -> Result<Vec<u8>> {
        let log = &session.log;
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or_default()];
        let read = log.file.read_at(&mut bytes, from).map_err(os("reading", &log.path))?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn set_aside(&self, segment: &crate::layout::Segment, at: u64, bytes: &[u8]) -> Result<()> {
        self.make_dir(&self.layout.aside())?;
        let name = format!("{}.{at}.{}", segment.name(), line::sum(bytes));
        self.put(&self.layout.aside().join(name), bytes)
    }

    /// Appends event lines to a session's file, and then a commit line with the session's new
    /// state.
    ///
    /// # Errors
    /// `Io` if the lines cannot be written; the session is then unchanged. `Poisoned` if the sync
    /// failed; it is then unknown whether the lines are durable.
    pub(crate) fn commit(&self, session: &mut Session, lines: String) -> Result<()> {
        let what = if lines.is_empty() { What::Changed } else { What::Appended };
        self.commit_as(what, session, lines)
    }

    /// Commits like [`commit`](Self::commit). The feed reports the change as `what`.
    pub(crate) fn commit_as(
        &self,
        what: What,
        session: &mut Session,
        mut lines: String,
    ) -> Result<()> {
        let _write = self.announce(what, &session.header.id)?;
        let log = &session.log;
        let commit = Commit {
            state: State::of(&session.header),
            from: log.end,
            step: line::sum(lines.as_bytes()),
        };
        lines.push_str(&line::sealed(&commit)?);
        let written = self.write(&*log.file, &log.path, lines.as_bytes(), log.end);
        if let Err(error) = written {
            // Cut the file back to its old length. If that fails too, the next writer finds a torn
            // tail and cuts it off.
            let _ = log.file.set_len(log.end);
            return Err(error);
        }
        self.sync(&*log.file, &log.path)?;
        session.step = log.end;
        session.log.end += lines.len() as u64;
        session.len = session.log.end;
        session.durable = session.log.end;
        let (id, segment) = (session.header.id.clone(), session.segment.clone());
        self.mark(Mark::Session(id, segment, session.durable));
        Ok(())
    }
}
