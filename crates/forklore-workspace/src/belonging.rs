//! Which snapshots belong to the events of a part of a history, for those who show it.

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;

use crate::snapshot::find_named_near;
use crate::{Result, WorkspaceFiles};

/// How many pages of events are looked through for an earlier snapshot.
const NEAR: usize = 4;

/// A snapshot that was taken while an agent worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belonging {
    /// Its id.
    pub snapshot: String,
    /// The id of the one that was taken before it; `None` if it is the first.
    pub before: Option<String>,
}

impl WorkspaceFiles {
    /// Returns for each of these positions the snapshot that belongs to it among those which the hooks
    /// of an agent took. Empty if there are none at all.
    ///
    /// # Errors
    /// If the store or the files of the agent's snapshots cannot be read.
    pub fn belonging(
        &self,
        engine: &Engine,
        header: &Header,
        folder: &str,
        positions: &[u64],
    ) -> Result<Vec<Option<Belonging>>> {
        if self.last_moment(engine, header, u64::MAX, folder)?.is_none() {
            return Ok(Vec::new());
        }
        let belongs = |&position: &u64| {
            let named = self.last_moment(engine, header, position, folder)?;
            Ok(named.map(|named| Belonging {
                snapshot: named.snapshot,
                before: named.before.map(|before| before.to_string()),
            }))
        };
        positions.iter().map(belongs).collect()
    }

    /// Returns the last snapshot of a folder that a history names at or before a position, if it is
    /// not far from there.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn named_near(
        &self,
        engine: &Engine,
        session: &SessionId,
        position: u64,
        folder: &str,
    ) -> Result<Option<String>> {
        let found =
            find_named_near(engine, session, position, NEAR, |named, _| Ok(named.folder == folder));
        Ok(found?.map(|named| named.snapshot))
    }
}
