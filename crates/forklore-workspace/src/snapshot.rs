//! `snapshot`: records the state of a folder in a session.

use std::path::Path;

use forklore_api::{NamedPath, NewEvent, RecordedSnapshot};
use forklore_core::{Data, EventId, EventType, Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::{Snapshot, SnapshotId};
use forklore_store::port::{At, Direction, Query};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::followed::followed;
use crate::named::left_out;
use crate::{Result, WorkspaceFiles};

/// The number of events that are read at once to find the last snapshot.
pub(crate) const PAGE: usize = 512;

/// A snapshot that a history names.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) snapshot: String,
    pub(crate) folder: String,
    #[serde(default)]
    pub(crate) commit: Option<String>,
    #[serde(default)]
    pub(crate) branch: Option<String>,
    #[serde(default)]
    pub(crate) files: u64,
    #[serde(default)]
    pub(crate) bytes: u64,
    #[serde(default)]
    pub(crate) left_out: Vec<NamedPath>,
    /// The position of the event.
    #[serde(skip)]
    pub(crate) seq: Option<u64>,
    #[serde(skip)]
    pub(crate) at: Timestamp,
    /// Of a snapshot that no log names: the one that was taken before it.
    #[serde(skip)]
    pub(crate) before: Option<SnapshotId>,
}

impl Named {
    /// Returns the snapshot's id, if it is one.
    pub(crate) fn id(&self) -> Result<SnapshotId> {
        Ok(self.snapshot.parse()?)
    }
}

impl WorkspaceFiles {
    /// Takes a snapshot of a folder and names it in the log of a session, unless the history of the
    /// session names the same state last. If the session follows the file of an agent, the snapshot
    /// is recorded next to the snapshots instead, so that the session still follows the file.
    ///
    /// # Errors
    /// If the state cannot be recorded, or the event cannot be appended, for example because the
    /// session is running (`busy`).
    pub fn snapshot(
        &self,
        engine: &Engine,
        header: &Header,
        folder: &Path,
    ) -> Result<RecordedSnapshot> {
        // Nothing removes the snapshot before the event names it.
        let shared = self.snapshots.share()?;
        let state = self.snapshots.take(folder, &self.taking)?;
        let snapshot = state.id.to_string();
        let (seq, unchanged) = match followed(engine, header)? {
            Some(agent) => {
                let head = u64::try_from(header.head_seq()).unwrap_or_default();
                (head, !self.add_moment(&agent, folder, &state)?)
            }
            None => append(engine, header, folder, &state)?,
        };
        drop(shared);
        self.snapshots.tidy()?;
        Ok(RecordedSnapshot {
            session_id: header.id.clone(),
            seq,
            folder: folder.to_path_buf(),
            snapshot,
            unchanged,
            commit: state.commit,
            branch: state.branch,
            files: state.files,
            bytes: state.bytes,
            left_out: state.left_out.iter().map(left_out).collect(),
        })
    }

    /// Takes a snapshot of a folder and returns the event that names it, for a writer that has the
    /// session's lease. `None` if the history of the session names the same state last.
    ///
    /// # Errors
    /// If the state cannot be recorded.
    pub fn look(
        &self,
        engine: &Engine,
        session: &SessionId,
        folder: &Path,
    ) -> Result<Option<NewEvent>> {
        let _shared = self.snapshots.share()?;
        let state = self.snapshots.take(folder, &self.taking)?;
        self.expect_name(state.id)?;
        match named_already(engine, session, folder, &state)? {
            Some(_) => Ok(None),
            None => Ok(Some(event(folder, &state)?)),
        }
    }
}

/// Names a state in the log of a session, if it does not name the state last. Returns the position
/// of its name, and whether the log has it already.
fn append(
    engine: &Engine,
    header: &Header,
    folder: &Path,
    state: &Snapshot,
) -> Result<(u64, bool)> {
    if let Some(last) = named_already(engine, &header.id, folder, state)? {
        return Ok((last.seq.unwrap_or_default(), true));
    }
    let appended = engine.append(&header.id, &event(folder, state)?.into())?;
    Ok((u64::try_from(appended.head_seq).unwrap_or_default(), false))
}

/// Returns the event that names a state.
fn event(folder: &Path, state: &Snapshot) -> Result<NewEvent> {
    let payload = json!({
        "snapshot": state.id.to_string(),
        "folder": folder.to_string_lossy(),
        "commit": state.commit,
        "branch": state.branch,
        "files": state.files,
        "bytes": state.bytes,
        "left_out": state.left_out.iter().map(left_out).collect::<Vec<_>>(),
    });
    Ok(NewEvent::new(EventType::WORKSPACE_SNAPSHOT, Data::of(&payload)?))
}

/// Returns the last snapshot that a history names, if it is this state.
fn named_already(
    engine: &Engine,
    session: &SessionId,
    folder: &Path,
    state: &Snapshot,
) -> Result<Option<Named>> {
    let last = last_named(engine, session, u64::MAX, &folder.to_string_lossy())?;
    Ok(last.filter(|last| {
        let same = (&last.commit, &last.branch) == (&state.commit, &state.branch);
        last.snapshot == state.id.to_string() && same
    }))
}

/// Returns the last snapshot of a folder that a history names at or before a position.
pub(crate) fn last_named(
    engine: &Engine,
    session: &SessionId,
    up_to: u64,
    folder: &str,
) -> Result<Option<Named>> {
    find_named(engine, session, up_to, |named, _| Ok(named.folder == folder))
}

/// Returns the last snapshot that a history names at or before a position and that `accept`
/// accepts. It gets the id of the event too.
pub(crate) fn find_named(
    engine: &Engine,
    session: &SessionId,
    up_to: u64,
    accept: impl FnMut(&Named, &EventId) -> Result<bool>,
) -> Result<Option<Named>> {
    find_named_near(engine, session, up_to, usize::MAX, accept)
}

/// Looks for a snapshot as [`find_named`] does, in this number of pages of events.
pub(crate) fn find_named_near(
    engine: &Engine,
    session: &SessionId,
    up_to: u64,
    pages: usize,
    mut accept: impl FnMut(&Named, &EventId) -> Result<bool>,
) -> Result<Option<Named>> {
    let read = |at, limit, bare| {
        let query = Query { at: At::Seq(at), direction: Direction::Backward, limit, bare };
        engine.store().read(session, &query).map_err(forklore_engine::Error::from)
    };
    let (mut next, mut pages) = (Some(up_to), pages);
    while let Some(at) = next
        && pages > 0
    {
        pages -= 1;
        let page = read(at, PAGE, true)?;
        next = page.events.last().filter(|_| page.more).and_then(|last| last.seq.checked_sub(1));
        let named = page.events.iter();
        for found in named.filter(|found| found.event.kind == EventType::WORKSPACE_SNAPSHOT) {
            let event = read(found.seq, 1, false)?.events.pop();
            // A redacted event names no snapshot.
            let payload = event.and_then(|stored| stored.event.data.read::<Named>().ok());
            let Some(named) = payload else { continue };
            let named = Named { seq: Some(found.seq), at: found.event.ts, ..named };
            if accept(&named, &found.event.id)? {
                return Ok(Some(named));
            }
        }
    }
    Ok(None)
}
