//! A snapshot of a store's contents, for comparison as a whole.

use std::collections::BTreeMap;

use forklore_conformance::scene::forward;
use forklore_core::{AttachmentId, Header, SessionId};
use forklore_store::attachments::check;
use forklore_store::port::{At, Filter, LogEntry, Operation, Query};
use forklore_store::sources::{FindSource, Source, SourceId, SourceSpan};
use forklore_store::{Error, Result, Store};

use crate::subject::attachments_of;

/// The contents of a store at one time, for comparison with those of another store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Every session, including deleted ones: its header and its log. A deleted session has no log.
    pub sessions: BTreeMap<SessionId, (Header, Option<Vec<LogEntry>>)>,
    /// The versions of the imported file, each with the byte ranges that the store recorded. The
    /// numbers that identify them in a store are left out, because each store assigns its own.
    pub sources: Vec<(Source, Vec<SourceSpan>)>,
    /// Every attachment with its length in bytes. `None` if its bytes do not match its digest.
    pub attachments: BTreeMap<AttachmentId, Option<u64>>,
    /// The recorded operations, the newest first. Their times are left out, because each store has
    /// its own clock.
    pub operations: Vec<Operation>,
}

impl Picture {
    /// Reads everything in the store. Of imported files, reads only the one that was imported from
    /// `path`.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn of(store: &dyn Store, path: &str) -> Result<Self> {
        let everything = Filter { deleted: true, ..Filter::default() };
        let mut sessions = BTreeMap::new();
        for listed in store.sessions(&everything, None, 0)?.all()? {
            let mut header = store.header(&listed.id)?;
            if let Some(lease) = &mut header.lease {
                // The expiry is not compared, because each store has its own clock.
                lease.expires = jiff::Timestamp::UNIX_EPOCH;
            }
            let log = match log(store, &listed.id) {
                Ok(log) => Some(log),
                Err(Error::Deleted(_)) => None,
                Err(error) => return Err(error),
            };
            sessions.insert(listed.id, (header, log));
        }
        let mut sources = Vec::new();
        for source in store.sources(&FindSource::Path(path.into()))? {
            let mut ranges = Vec::new();
            let mut step = 0;
            while let Some(more) = store.source_spans(source.id, step)? {
                ranges.extend(more);
                step += 1;
            }
            sources.push((Source { id: SourceId(0), ..source }, ranges));
        }
        let mut attachments = BTreeMap::new();
        for listed in attachments_of(store).list()? {
            let sound = match check(&*attachments_of(store), &listed.id) {
                Err(Error::Corrupt { .. }) => None,
                sound => sound?,
            };
            attachments.insert(listed.id, sound);
        }
        Ok(Self { sessions, sources, attachments, operations: operations(store)? })
    }

    /// Checks whether the contents equal those of `other`, except for additional attachments. These
    /// were stored without an acknowledgement. Every attachment must be complete.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        let attachment =
            other.attachments.iter().all(|(id, len)| self.attachments.get(id) == Some(len));
        let whole = self.attachments.values().all(Option::is_some);
        let Self { sessions, sources, operations, .. } = other;
        let same = (&self.sessions, &self.sources, &self.operations);
        attachment && whole && same == (sessions, sources, operations)
    }

    /// Describes briefly how these contents of a store differ from `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> String {
        let mut texts = Vec::new();
        for id in self.sessions.keys().chain(other.sessions.keys()) {
            let (mine, theirs) = (self.sessions.get(id), other.sessions.get(id));
            if mine != theirs {
                texts.push(format!("{id}: {} instead of {}", brief(mine), brief(theirs)));
            }
        }
        if self.sources != other.sources {
            texts.push(format!("sources: {:?} instead of {:?}", self.sources, other.sources));
        }
        if self.attachments != other.attachments {
            let (mine, theirs) = (&self.attachments, &other.attachments);
            texts.push(format!("attachments: {mine:?} instead of {theirs:?}"));
        }
        if self.operations != other.operations {
            let (mine, theirs) = (&self.operations, &other.operations);
            texts.push(format!("operations: {mine:?} instead of {theirs:?}"));
        }
        texts.dedup();
        texts.join("; ")
    }
}

fn operations(store: &dyn Store) -> Result<Vec<Operation>> {
    let page = store.operations(None, 0)?;
    if let Some(damaged) = page.damaged.into_iter().next() {
        return Err(damaged);
    }
    let timeless = |operation| Operation { at: jiff::Timestamp::UNIX_EPOCH, ..operation };
    Ok(page.found.into_iter().map(timeless).collect())
}

fn brief(session: Option<&(Header, Option<Vec<LogEntry>>)>) -> String {
    match session {
        None => "nothing".into(),
        Some((header, None)) => format!("a tombstone {header:?}"),
        Some((header, Some(log))) => format!("{} events below {header:?}", log.len()),
    }
}

/// Reads the whole history of a session.
///
/// # Errors
/// The errors of the store.
pub fn log<S: Store + ?Sized>(store: &S, id: &SessionId) -> Result<Vec<LogEntry>> {
    let mut all: Vec<LogEntry> = Vec::new();
    loop {
        let from = all.last().map_or(0, |last| last.seq + 1);
        let page = store.read(id, &Query { ..forward(At::Seq(from), 1000, false) })?;
        all.extend(page.events);
        if !page.more {
            return Ok(all);
        }
    }
}
