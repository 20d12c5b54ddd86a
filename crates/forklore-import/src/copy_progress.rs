//! How far the beginning of a file repeats the records of another file.

use forklore_core::agent_format::Record;
use forklore_core::{Cut, Header, Selector, SessionId};
use forklore_engine::{Engine, Result};
use forklore_store::sources::{RecordKey, RecordLocation};
use serde::{Deserialize, Serialize};

/// How far the beginning of a file repeats another file, the original. It is stored with the file's
/// source, so that the next import can continue the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CopyProgress {
    /// The key of the first record, under which both files are found.
    name: Option<RecordKey>,
    /// The original session that contains the last repeated event.
    session: SessionId,
    /// Number of inheritable events that were repeated.
    #[serde(rename = "kept")]
    copied: u64,
    /// The seq of the last repeated event in `session`.
    seq: u64,
    /// Whether the agent would resume at one of the repeated records.
    leaf: bool,
}

impl CopyProgress {
    /// Returns the progress before the first comparison of a file that may repeat `session`.
    pub(crate) fn of(name: Option<RecordKey>, session: SessionId) -> Self {
        Self { name, session, copied: 0, seq: 0, leaf: false }
    }

    pub(crate) fn name(&self) -> Option<RecordKey> {
        self.name
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }

    pub(crate) fn leaf(&self) -> bool {
        self.leaf
    }

    /// Records that the file repeats the event `seq` of `session`, which is the `copied`-th
    /// inheritable event there, counted from 1.
    pub(crate) fn repeat(&mut self, session: &SessionId, seq: u64, copied: u64) {
        self.session.clone_from(session);
        self.seq = seq;
        self.copied = copied;
    }

    /// Records that `record` repeats an event, and returns the location of that event in the file's
    /// future session.
    pub(crate) fn follow(&mut self, record: &Record) -> RecordLocation {
        self.leaf |= record.leaf;
        RecordLocation { session: 0, position: self.copied, inherited: true }
    }

    /// Returns the session with the last repeated event, and the cut after that event.
    pub(crate) fn cut(&self, engine: &Engine) -> Result<(Header, Cut)> {
        let parent = engine.store().header(&self.session)?;
        let seq = i64::try_from(self.seq).unwrap_or(i64::MAX);
        let cut = engine.cut(&parent, &Selector::Seq(seq))?;
        Ok((parent, cut))
    }
}
