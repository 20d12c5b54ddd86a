//! `snapshot`: records the state of a folder in a session.

use std::path::Path;

use forklore_api::{NamedPath, NewEvent, RecordedSnapshot};
use forklore_core::{Data, EventId, EventType, Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::SnapshotId;
use forklore_store::port::{At, Direction, Query};
use serde::Deserialize;
use serde_json::json;

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
    pub(crate) seq: u64,
}

impl Named {
    /// Returns the snapshot's id, if it is one.
    pub(crate) fn id(&self) -> Result<SnapshotId> {
        Ok(self.snapshot.parse()?)
    }
}

impl WorkspaceFiles {
    /// Takes a snapshot of a folder and names it in the log of a session, unless the history of the
    /// session names the same state last.
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
        let text = folder.to_string_lossy();
        let snapshot = state.id.to_string();
        let last = last_named(engine, &header.id, u64::MAX, &text)?;
        let unchanged = last.as_ref().filter(|last| {
            let same = (&last.commit, &last.branch) == (&state.commit, &state.branch);
            last.snapshot == snapshot && same
        });
        let (seq, unchanged) = match unchanged {
            Some(last) => (last.seq, true),
            None => {
                let payload = json!({
                    "snapshot": snapshot,
                    "folder": text,
                    "commit": state.commit,
                    "branch": state.branch,
                    "files": state.files,
                    "bytes": state.bytes,
                    "left_out": state.left_out.iter().map(left_out).collect::<Vec<_>>(),
                });
                let event = NewEvent::new(EventType::WORKSPACE_SNAPSHOT, Data::of(&payload)?);
                let appended = engine.append(&header.id, &event.into())?;
                (u64::try_from(appended.head_seq).unwrap_or_default(), false)
            }
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
    mut accept: impl FnMut(&Named, &EventId) -> Result<bool>,
) -> Result<Option<Named>> {
    let read = |at, limit, bare| {
        let query = Query { at: At::Seq(at), direction: Direction::Backward, limit, bare };
        engine.store().read(session, &query).map_err(forklore_engine::Error::from)
    };
    let mut next = Some(up_to);
    while let Some(at) = next {
        let page = read(at, PAGE, true)?;
        next = page.events.last().filter(|_| page.more).and_then(|last| last.seq.checked_sub(1));
        let named = page.events.iter();
        for found in named.filter(|found| found.event.kind == EventType::WORKSPACE_SNAPSHOT) {
            let event = read(found.seq, 1, false)?.events.pop();
            // A redacted event names no snapshot.
            let payload = event.and_then(|stored| stored.event.data.read::<Named>().ok());
            let Some(named) = payload else { continue };
            let named = Named { seq: found.seq, ..named };
            if accept(&named, &found.event.id)? {
                return Ok(Some(named));
            }
        }
    }
    Ok(None)
}
