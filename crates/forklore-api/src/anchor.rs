//! Types of `anchor` and of `verify --anchors`, which notice edits behind the store's back.

use forklore_core::SessionId;
use forklore_core::report::Verification;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The head of a session at one time. `anchor` writes one line of JSON for each
/// (docs/semantics.md, Integrity).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Anchor {
    /// The session.
    pub session_id: SessionId,
    /// The seq of its last event; -1 if its log is empty.
    pub seq: i64,
    /// The hash of its id and of its whole log up to this event, inherited events included, as 64
    /// hex digits.
    pub chain: String,
    /// The hash of the part of its header that never changes, as 64 hex digits.
    pub lineage: String,
    /// The hash of the part of its header that commands may change, as 64 hex digits.
    pub settings: String,
    /// When the anchor was made.
    pub at: Timestamp,
    /// The position in the store's feed, which also says which store it is; null if the store has
    /// no feed.
    pub store: Option<String>,
    /// The HMAC-SHA-256 of the fields above, as 64 hex digits; null without a key.
    pub hmac: Option<String>,
}

/// What `anchor` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Anchored {
    /// The path of the file to which the anchors were appended.
    pub path: String,
    /// Whether the anchors are signed with a key.
    pub signed: bool,
    /// The anchors, in the order of the lines.
    pub anchors: Vec<Anchor>,
}

/// How a session compares with one of its anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnchorState {
    /// The log is the same up to the anchor.
    Holds,
    /// The session is in the trash, and its log is the same up to the anchor.
    Deleted,
    /// The session was erased. Its tombstone says so.
    Erased,
    /// An event up to the anchor was changed, removed, inserted or moved.
    Edited,
    /// The part of the header that never changes was changed: the lineage, the workspace or whose
    /// it is.
    HeaderEdited,
    /// The log ends before the anchor.
    Truncated,
    /// The store is older than the anchor: an earlier copy was put back.
    RolledBack,
    /// The store has neither the session nor a tombstone of it.
    Missing,
    /// Events up to the anchor cannot be read.
    Damaged,
    /// The line is not signed with the key.
    Forged,
    /// With `--exact`: events follow the newest anchor of the session.
    Grown,
    /// With `--exact`: the label, the title or another part of the header that commands may change
    /// is not as in the newest anchor of the session.
    Changed,
    /// With `--exact`: no anchor names the session.
    Unanchored,
    /// With `--exact`: the session's file ends with bytes that no complete write has written.
    Unfinished,
}

/// The comparison of one anchor with the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnchorCheck {
    /// The number of the anchor, from 1; null if the result concerns no anchor. Empty lines of the
    /// file do not count.
    pub line: Option<u64>,
    /// The session.
    pub session_id: SessionId,
    /// The seq of the anchored event; -1 if the log was empty. If the result concerns no anchor,
    /// the seq of the last event of the session.
    pub seq: i64,
    /// The result.
    pub state: AnchorState,
    /// Whether the program itself can have brought this state about.
    pub sound: bool,
    /// The result as text for people.
    pub message: String,
}

/// The answer of `verify --anchors`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnchorReport {
    /// The number of anchors that hold.
    pub holds: u64,
    /// The number of results that are not sound.
    pub differ: u64,
    /// Whether the signatures of the anchors were checked with a key.
    pub signed: bool,
    /// The comparisons, in the order of the anchors. Results that concern no anchor come last.
    pub checks: Vec<AnchorCheck>,
    /// What `verify` finds in the store without anchors.
    pub verification: Verification,
}
