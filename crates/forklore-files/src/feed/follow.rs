//! Reads the feed of a store and waits for changes.

use std::ffi::OsString;
use std::fs::{OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_store::disk::{folder_of, with_suffix};
use forklore_store::feed::{At, Position, commit_page, list_page, wait_for};
use forklore_store::port::{Changes, Filter, SessionChange, Since};
use forklore_store::{Error, Result};

use super::scan::{Log, Scan};
use super::{LONG, boot};
use crate::name::Name;
use crate::store::FilesStore;

/// The names of the two lists of sessions that the feed can return instead of changes. A new reader
/// gets `LIVING`, the living sessions. A reader that may have missed changes gets `ALL`, which
/// includes deleted sessions because the reader may have seen them alive.
const LIVING: &str = "living ";
const ALL: &str = "all ";

impl FilesStore {
    /// Reads the feed: returns at most `limit` changed sessions after the position `since`. If
    /// there are none yet, waits for one, at most for the time `wait`.
    pub(crate) fn follow(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let feed = &self.folder().feed;
        if !wait.is_zero() {
            let name = feed.path.file_name().map(OsString::from);
            feed.watch.begin(folder_of(&feed.path), name.as_slice());
        }
        let mut since = since.clone();
        wait_for(&feed.bell, wait, || {
            let page = self.page_of_feed(&since, limit)?;
            since = Since::Mark(page.mark.clone());
            Ok(page)
        })
    }

    /// Replaces the feed's log by an empty one if it is too long or older than the machine's last
    /// boot. The end of a log from before the boot may be lost. Ignores a failure, because the next
    /// opening of the store tries again.
    pub(crate) fn renew_feed(&self) {
        let feed = &self.folder().feed;
        let is_old = |log: &Log| log.first.boot != boot() || log.len > LONG;
        if !feed.log().is_ok_and(|log| log.as_ref().is_some_and(is_old)) {
            return;
        }
        if let Ok(_turn) = self.pass_exclusive()
            && let Ok(Some(log)) = feed.log()
            && is_old(&log)
        {
            let _ = feed.renew(&log.first);
        }
    }

    fn page_of_feed(&self, since: &Since, limit: usize) -> Result<Changes> {
        let (folder, feed) = (self.folder(), &self.folder().feed);
        let gone = || Error::StoreGone { location: self.path().display().to_string() };
        if !folder.layout.version().exists() {
            return Err(gone());
        }
        let log = match (feed.log()?, since) {
            (Some(log), _) => log,
            (None, Since::Mark(_)) => return Err(gone()),
            (None, _) if self.is_read_only() => {
                let message = "nobody has written to the store since there are feeds, and it was \
                    opened for reading only";
                return Err(Error::Unsupported(message.into()));
            }
            (None, _) => {
                feed.make()?;
                feed.log()?.ok_or_else(gone)?
            }
        };
        let name = &*log.first.feed;
        let Since::Mark(mark) = since else {
            let scan = feed.scan(&log, 0)?;
            let position = Position::behind(name, log.first.generation, self.settled(&scan)?);
            return match since {
                Since::Beginning => self.list_of_feed(&position, LIVING, limit, position.base),
                _ => Ok(commit_page(&position, Vec::new(), limit, position.base)),
            };
        };
        let position = Position::of(mark, name)?;
        let same = position.generation == log.first.generation;
        if position.generation > log.first.generation || (same && position.base > log.len) {
            let message = "the store was put back to an earlier state".into();
            return Err(Error::MarkExpired { mark: mark.clone(), message });
        }
        let scan = feed.scan(&log, if same { position.base } else { 0 })?;
        let settled = self.settled(&scan)?;
        match &position.at {
            At::Listed(key) if same => self.list_of_feed(&position, key, limit, settled),
            At::Commit(number, _) if same && scan.everything <= *number => {
                let found = self.behind(&scan, &position, settled)?;
                Ok(commit_page(&position, found, limit, settled))
            }
            _ => {
                let position = Position::behind(name, log.first.generation, settled);
                self.list_of_feed(&position, ALL, limit, settled)
            }
        }
    }

    /// Returns the byte offset in the feed's log up to which all announced writes have ended. A
    /// write has ended if its end is recorded or its process was killed.
    fn settled(&self, scan: &Scan) -> Result<u64> {
        let mut settled = scan.end;
        for (at, session) in &scan.open {
            if self.is_being_written(session) {
                settled = *at;
                break;
            }
            // The writer was killed. Recover its session and make it durable before the reader of
            // the feed sees it.
            if !self.is_read_only()
                && let Ok((_turns, folder)) = self.with(session)
            {
                let _ = folder.writable(session);
            }
        }
        self.reading()?;
        Ok(settled)
    }

    /// Checks whether a process may be writing to this session. A writer has the store's exclusive
    /// lock or the session's own lock.
    fn is_being_written(&self, session: &SessionId) -> bool {
        let layout = &self.folder().layout;
        let claim = layout.claim(Name::of_session(session).as_str());
        is_locked(&with_suffix(&layout.gate(), "-lock")) || is_locked(&claim)
    }

    fn behind(
        &self,
        scan: &Scan,
        position: &Position,
        settled: u64,
    ) -> Result<Vec<((u64, u64), SessionChange)>> {
        let mut found = Vec::new();
        for (session, stamp) in scan.stamps(settled) {
            let at = (stamp.last(), 0);
            if At::Commit(at.0, at.1) <= position.at {
                continue;
            }
            let (head, removed) = match self.folder().any(session) {
                Ok(session) => (session.header.head_seq(), session.header.deleted.is_some()),
                // The process that announced this session failed or was killed before it created
                // the session.
                Err(Error::NotFound(_)) => continue,
                // The session is damaged. The feed reports it anyway, and a caller that then reads
                // it gets the error.
                Err(Error::Corrupt { .. } | Error::Lost { .. } | Error::MissingAncestor { .. }) => {
                    (-1, false)
                }
                Err(error) => return Err(error),
            };
            found.push((at, stamp.behind(position.base, session.clone(), head, removed)));
        }
        Ok(found)
    }

    /// Returns a page of the session list [`LIVING`] or [`ALL`]. `key` is the name of the list,
    /// followed by the id after which the page begins.
    fn list_of_feed(
        &self,
        position: &Position,
        key: &str,
        limit: usize,
        last: u64,
    ) -> Result<Changes> {
        let living = key.starts_with(LIVING);
        let name = if living { LIVING } else { ALL };
        let filter = Filter { deleted: !living, ..Filter::default() };
        let headers = self.folder().list(&filter, None, 0)?.sound;
        let mut list: Vec<_> = headers
            .iter()
            .map(|header| {
                let removed = header.deleted.is_some();
                let listed = forklore_store::feed::listed(header);
                let change = SessionChange { changed: !living && !removed, ..listed };
                (format!("{name}{}", header.id.fold()), change)
            })
            .filter(|(one, _)| one.as_str() > key)
            .collect();
        list.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        if limit > 0 {
            list.truncate(limit.saturating_add(1));
        }
        Ok(list_page(position, list, limit, last))
    }
}

/// Checks whether any process has an exclusive lock on the file at `path`.
fn is_locked(path: &Path) -> bool {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(nofollow).open(path);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
