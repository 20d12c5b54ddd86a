//! Brings the index up to date with the sessions of a store. One transaction reads at most about 32
//! MiB.
//!
//! Reading a session continues where the last transaction stopped. If a session was deleted, the
//! index retains the events of that session that another session still inherits. Events that were
//! not read before the deletion are read from the other session.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Header, Label, SessionId};
use forklore_engine::{Engine, Error};
use forklore_index::{Fault, IndexFile, Result, state};
use forklore_store::port::At;

use crate::branches::Family;
use crate::documents::{Facet, Position, Writer};
use crate::open_calls::OpenCalls;
use crate::prefetch::{Prefetch, Prepared};
use crate::sessions::{self, SessionRow};

/// The size of the payloads that one transaction reads, in bytes. The last payload may exceed it.
const BATCH: u64 = 32 << 20;

/// The progress of an update of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The total size of the payloads that were already read, in bytes.
    pub bytes_done: u64,
    /// The total size of all payloads that the update reads, in bytes.
    pub bytes: u64,
}

/// The result of an update of the index.
pub(crate) struct Updated {
    /// The epoch of the index, which increases each time the index is emptied.
    pub(crate) epoch: i64,
    /// The problems of sessions that could not be read completely.
    pub(crate) problems: Vec<Problem>,
    /// The size of the payloads that the index does not have yet, in bytes. `None` if the index is
    /// up to date.
    pub(crate) unread: Option<u64>,
}

/// Brings the index up to date with the families that have a session in `workspace`; `None` means
/// all families. Calls `progress` before each transaction and at the end. Does not call it if
/// nothing has changed. Ends early after `patience`, with at least one event more than before.
pub(crate) fn update(
    file: &mut IndexFile,
    engine: &Engine,
    workspace: Option<&Workspace>,
    patience: Option<Duration>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Updated> {
    file.follow(engine.store(), sessions::note_changes)?;
    let epoch = state(file.conn())?.epoch;
    let mut updated = Updated { epoch, problems: Vec::new(), unread: None };
    let mut after = 0;
    if sessions::next_pending(file.conn(), workspace, after)?.is_none() {
        return Ok(updated);
    }
    let bytes = sessions::pending_bytes(file.conn(), workspace)?;
    let mut done = Progress { bytes_done: 0, bytes };
    let mut failed = HashSet::new();
    let mut prefetch = Prefetch::new(engine, workspace);
    let until = patience.map(|patience| Instant::now() + patience);
    loop {
        progress(done);
        let problems = &mut updated.problems;
        let is_done = file.write(|conn| {
            if state(conn)?.epoch != epoch {
                return Err(Fault::Emptied);
            }
            let (writer, prefetch) = (Writer::new(conn), &mut prefetch);
            let mut batch = Batch { engine, prefetch, writer, until, bytes: 0, family: None };
            while !batch.is_full() {
                let Some(mut row) = sessions::next_pending(conn, workspace, after)? else {
                    done.bytes_done += batch.bytes;
                    return Ok(true);
                };
                match batch.session(&mut row) {
                    Ok(true) => after = row.number,
                    Ok(false) => {}
                    Err(fault) => {
                        // Continue with the other sessions, which can still be searched.
                        let problem = problem(&row.id, fault)?;
                        if failed.insert(row.number) {
                            problems.extend(problem);
                        }
                        after = row.number;
                    }
                }
            }
            done.bytes_done += batch.bytes;
            Ok(false)
        })?;
        if is_done || until.is_some_and(|until| Instant::now() >= until) {
            progress(done);
            updated.unread = (!is_done).then(|| bytes.saturating_sub(done.bytes_done));
            return Ok(updated);
        }
    }
}

/// Returns the problem of a session that cannot be read. Returns `None` if the session was deleted
/// meanwhile: the next update takes note of the deletion.
fn problem(session: &SessionId, fault: Fault) -> Result<Option<Problem>> {
    let error = match fault {
        Fault::Sessions(Error::Store(error)) | Fault::Store(error) => error,
        fault => return Err(fault),
    };
    match error.kind() {
        ErrorKind::NotFound => Ok(None),
        ErrorKind::Corrupt | ErrorKind::MissingAncestor => Ok(Some(error.problem(Some(session)))),
        _ => Err(error.into()),
    }
}

/// The work of one transaction.
struct Batch<'a, 'c> {
    engine: &'a Engine,
    prefetch: &'c mut Prefetch<'a>,
    writer: Writer<'c>,
    /// The time at which the transaction ends if it has read anything.
    until: Option<Instant>,
    /// The size of the payloads that were read, in bytes.
    bytes: u64,
    /// The family of the deleted session that was read last, with the id of its root. `None` before
    /// the first one. The entry stays valid, because no session changes in the index during the
    /// update.
    family: Option<(SessionId, Rc<Family>)>,
}

impl Batch<'_, '_> {
    fn is_full(&self) -> bool {
        let is_late = || self.until.is_some_and(|until| Instant::now() >= until);
        self.bytes >= BATCH || self.bytes > 0 && is_late()
    }

    /// Reads the events of a session that the index does not have yet, as far as they fit into the
    /// transaction. Returns whether the session is now read completely.
    fn session(&mut self, row: &mut SessionRow) -> Result<bool> {
        let header = self.engine.store().header(&row.id)?;
        if let Some(head) = row.head_row.take() {
            self.writer.remove(head)?;
        }
        let before = self.bytes;
        let workspace = header.workspace.as_str().to_owned();
        let read = if row.is_deleted {
            let family = self.family(&header.root_id)?;
            self.inherited(row, &family, &workspace)
        } else {
            if row.read_to == row.inherits {
                // The session may have come back from the trash. It is read again from its first
                // event.
                self.writer.remove_after(row.number, 0)?;
            }
            row.head_row = self.head(row.number, &header)?;
            self.own(row, &workspace)
        };
        // Record the progress even if the log is damaged, so that the events before the damage can
        // be found.
        let is_done = *read.as_ref().unwrap_or(&false);
        sessions::note_read(self.writer.conn, row, self.bytes - before, is_done)?;
        read
    }

    fn family(&mut self, root: &SessionId) -> Result<Rc<Family>> {
        if let Some((_, family)) = self.family.as_ref().filter(|(of, _)| of == root) {
            return Ok(Rc::clone(family));
        }
        let family = Rc::new(Family::of(self.writer.conn, root.as_str())?);
        self.family = Some((root.clone(), Rc::clone(&family)));
        Ok(family)
    }

    /// Adds the document of a session's title and label. Leaves out the label `main`, because every
    /// root has it by default.
    fn head(&mut self, session: i64, header: &Header) -> Result<Option<i64>> {
        let label = Some(header.label.as_str()).filter(|label| *label != Label::main().as_str());
        if header.title.is_none() && label.is_none() {
            return Ok(None);
        }
        let ts = header.updated.as_microsecond();
        let at = Position { session, ordinal: 0, seq: 0, index: 0, ts };
        let facets =
            [Facet::workspace(header.workspace.as_str()), Facet::agent(header.dialect.as_deref())];
        self.writer.put_head(at, header.title.as_deref(), label, facets).map(Some)
    }

    /// Removes from the index those events of a deleted session that no other session inherits.
    /// Reads the inherited events that the index does not have yet. Returns whether all were read.
    fn inherited(
        &mut self,
        row: &mut SessionRow,
        family: &Family,
        workspace: &str,
    ) -> Result<bool> {
        let heir = family.heir(row.number);
        let last = heir.as_ref().map_or(0, |(_, last)| *last);
        self.writer.remove_after(row.number, last)?;
        row.read_to = row.read_to.min(last).max(row.inherits);
        self.writer
            .conn
            .prepare_cached("DELETE FROM open_call WHERE session = ?")?
            .execute([row.number])?;
        let Some((reader, _)) = heir.filter(|_| row.read_to < last) else { return Ok(true) };
        // In a session with a parent, an inherited event has its ordinal as its seq.
        row.next_seq = row.read_to + 1;
        let mut calls = OpenCalls::of(self.writer.conn, row.number)?;
        let added = self.inherited_events(row, workspace, &mut calls, (&reader, last));
        calls.save(self.writer.conn)?;
        added
    }

    /// Adds the events up to the seq `last` of the session `reader`, as far as they fit into the
    /// transaction. Returns whether all events were added.
    fn inherited_events(
        &mut self,
        row: &mut SessionRow,
        workspace: &str,
        calls: &mut OpenCalls,
        (reader, last): (&SessionId, u64),
    ) -> Result<bool> {
        for stored in self.engine.events(reader, At::Seq(row.next_seq)) {
            if self.is_full() {
                return Ok(false);
            }
            let stored = stored?;
            if stored.seq > last {
                break;
            }
            self.event(row, workspace, calls, Prepared::of(self.engine, stored))?;
        }
        Ok(true)
    }

    /// Adds the events that the session itself wrote, as far as they fit into the transaction.
    /// Returns whether all events were added.
    fn own(&mut self, row: &mut SessionRow, workspace: &str) -> Result<bool> {
        let mut calls = OpenCalls::of(self.writer.conn, row.number)?;
        let added = self.own_events(row, workspace, &mut calls);
        calls.save(self.writer.conn)?;
        added
    }

    fn own_events(
        &mut self,
        row: &mut SessionRow,
        workspace: &str,
        calls: &mut OpenCalls,
    ) -> Result<bool> {
        while !self.is_full() {
            let Some(prepared) = self.prefetch.next(self.writer.conn, row)? else {
                return Ok(true);
            };
            self.event(row, workspace, calls, prepared)?;
        }
        Ok(false)
    }

    /// Adds the next event of a session.
    fn event(
        &mut self,
        row: &mut SessionRow,
        workspace: &str,
        calls: &mut OpenCalls,
        prepared: Prepared,
    ) -> Result<()> {
        let Prepared { stored, bytes, document } = prepared;
        self.bytes += bytes;
        row.next_seq = stored.seq + 1;
        row.read_to = stored.counts.inheritable;
        let event = &stored.event;
        calls.open(event);
        let Some(mut document) = document else { return Ok(()) };
        let unnamed = std::mem::take(&mut document.unnamed);
        document
            .tools
            .extend(unnamed.iter().filter_map(|call| calls.tool(call).map(str::to_owned)));
        calls.close(event);
        if document.is_empty() {
            return Ok(());
        }
        let at = Position {
            session: row.number,
            ordinal: stored.counts.inheritable,
            seq: stored.origin.seq,
            index: stored.counts.index - u64::from(event.class.is_conversation()),
            ts: event.ts.as_microsecond(),
        };
        let tools = document.tools.iter().map(|tool| Facet::tool(tool));
        let facets = [Facet::workspace(workspace), Facet::agent(event.dialect.as_deref())];
        let facets = facets.into_iter().chain(document.role.map(Facet::role)).chain(tools);
        self.writer.put(at, &document, workspace, facets)
    }
}
