//! How far the beginning of a file repeats the records of another file.

use forklore_core::agent_format::Record;
use forklore_core::{Cut, Header, Selector, SessionId};
use forklore_engine::{Engine, Result};
use forklore_store::sources::{RecordKey, RecordLocation};
use serde::{Deserialize, Serialize};

/// How far the beginning of a copied file repeats its original (the file from which it was copied).
/// It is stored with the copied file, so that the next import can continue the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CopyProgress {
    /// The key of the copied file's first record, which the original file also has. The store finds
    /// both files by this key. `None` if the record has no id.
    name: Option<RecordKey>,
    /// The session with the event that the copied file repeats last. It is the original session or
    /// a branch of it.
    session: SessionId,
    /// How many inheritable events (events that forks inherit) of the original session the copied
    /// file repeats.
    #[serde(rename = "kept")]
    copied: u64,
    /// The seq in `session` of the event that the copied file repeats last.
    seq: u64,
    /// Whether the agent would resume the copied file at one of the repeated records.
    leaf: bool,
}

impl CopyProgress {
    /// Creates the progress of a copied file that may repeat `session`, before its first record is
    /// compared.
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

    /// Records that the copied file repeats the event of `session` with this `seq`. Among the
    /// inheritable events of that session, it is number `copied`, counted from 1.
    pub(crate) fn repeat(&mut self, session: &SessionId, seq: u64, copied: u64) {
        self.session.clone_from(session);
        self.seq = seq;
        self.copied = copied;
    }

    /// Records that `record` repeats an event of the original. Returns the location that this event
    /// will have in the copied file's session, which inherits it.
    pub(crate) fn follow(&mut self, record: &Record) -> RecordLocation {
        self.leaf |= record.leaf;
        RecordLocation { session: 0, position: self.copied, inherited: true }
    }

    /// Returns the session with the event that the copied file repeats last, and the cut after this
    /// event.
    pub(crate) fn cut(&self, engine: &Engine) -> Result<(Header, Cut)> {
        let parent = engine.store().header(&self.session)?;
        let seq = i64::try_from(self.seq).unwrap_or(i64::MAX);
        let cut = engine.cut(&parent, &Selector::Seq(seq))?;
        Ok((parent, cut))
    }
}
