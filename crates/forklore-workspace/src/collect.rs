//! `gc --files`: removes the snapshots that no session and no undo needs.

use std::collections::BTreeSet;
use std::path::Path;

use forklore_api::CollectedFiles;
use forklore_core::{EventType, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::SnapshotId;
use forklore_store::port::{At, Direction, Filter, Headers, Query};
use jiff::{SignedDuration, Timestamp};

use crate::record::needed_by_undo;
use crate::snapshot::{Named, PAGE};
use crate::worktree::path;
use crate::worktree_record::WorktreeRecord;
use crate::{Result, WorkspaceFiles};

/// How long the snapshots of a rewind stay for its undo, as long as a session in the trash.
const UNDO: SignedDuration = SignedDuration::from_hours(30 * 24);

impl WorkspaceFiles {
    /// Removes the snapshots that no session names, in the trash or not, and that no undo needs:
    /// the rewinds and undos of the last 30 days, and the last ones of each folder. If `dry_run`
    /// is set, only counts them.
    ///
    /// # Errors
    /// If a session cannot be read: then nothing is removed, because it may name one. If git fails.
    pub fn collect(&self, engine: &Engine, dry_run: bool) -> Result<CollectedFiles> {
        let collected = self.snapshots.collect(dry_run, || self.needed(engine))?;
        Ok(CollectedFiles {
            dry_run,
            snapshots: collected.removed,
            needed: collected.needed,
            bytes: collected.bytes,
            freed_bytes: collected.freed,
        })
    }

    fn needed(&self, engine: &Engine) -> Result<BTreeSet<SnapshotId>> {
        let since = Timestamp::now().checked_sub(UNDO).unwrap_or(Timestamp::MIN);
        let mut needed = needed_by_undo(self.folder(), since)?;
        needed.extend(self.agent_snapshots()?);
        needed.extend(self.expected()?);
        needed.extend(self.worktrees()?.into_iter().map(|made| made.snapshot));
        let made = WorktreeRecord::open(self.folder())?.made;
        let store = engine.store();
        for trash in [false, true] {
            let filter = Filter { trash, ..Filter::default() };
            let found = store.sessions(&filter, None, 0).and_then(Headers::all);
            for header in found.map_err(forklore_engine::Error::from)? {
                named_by(engine, &header.id, &mut needed)?;
                // `bring` merges from the state with which the folder of a branch began.
                let folder = Path::new(header.workspace.as_str());
                let own = made
                    .iter()
                    .filter(|begun| begun.session == header.id || path(&begun.folder) == folder);
                needed.extend(own.map(|begun| begun.snapshot));
            }
        }
        Ok(needed)
    }
}

/// Adds the snapshots that the history of a session names.
fn named_by(engine: &Engine, session: &SessionId, needed: &mut BTreeSet<SnapshotId>) -> Result<()> {
    let read = |at, limit, bare| {
        let query = Query { at: At::Seq(at), direction: Direction::Forward, limit, bare };
        engine.store().read_in_trash(session, &query).map_err(forklore_engine::Error::from)
    };
    let mut next = Some(0);
    while let Some(at) = next {
        let page = read(at, PAGE, true)?;
        next = page.events.last().filter(|_| page.more).map(|last| last.seq + 1);
        let named = page.events.iter();
        for found in named.filter(|found| found.event.kind == EventType::WORKSPACE_SNAPSHOT) {
            let event = read(found.seq, 1, false)?.events.pop();
            // A redacted event, or one that a foreign program wrote, may name none.
            let payload = event.and_then(|stored| stored.event.data.read::<Named>().ok());
            needed.extend(payload.and_then(|named| named.id().ok()));
        }
    }
    Ok(())
}
