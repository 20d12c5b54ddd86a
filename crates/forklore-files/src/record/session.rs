//! The first line of a session's file or of a copied prefix.

use std::collections::BTreeSet;

use forklore_core::header::{CopyOf, Strategy, ToolCallPolicy};
use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Cut, Data, Header, SessionId, SessionKind, Tombstone};
use forklore_store::rules::make_tombstone;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{State, VERSION, Writer};
use crate::layout::Segment;

/// The first line of a session's own file. It contains everything that never changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionLine {
    pub(crate) forklore: u32,
    pub(crate) session: Facts,
    /// The spans (ranges of events) that the session inherits. They are unused if the session has
    /// its own copy of these events.
    pub(crate) ancestry: Ancestry,
    /// The number of the last inheritable event that remains after `gc` erased events of this
    /// deleted session. Inheritable events are numbered from 1 along the history. 0 if none
    /// remains; `None` if `gc` erased nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trimmed: Option<u64>,
}

/// The first line of a file with the copy of a session's inherited events (its prefix).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrefixLine {
    pub(crate) forklore: u32,
    pub(crate) prefix_of: SessionId,
    /// Number of events in the file, all of them inheritable.
    #[serde(rename = "kept")]
    pub(crate) inheritable: u64,
}

impl PrefixLine {
    pub(crate) fn new(session: &SessionId, inheritable: u64) -> Self {
        Self { forklore: VERSION, prefix_of: session.clone(), inheritable }
    }
}

/// The fields of a session's header that never change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    id: SessionId,
    root_id: SessionId,
    parent_id: Option<SessionId>,
    kind: SessionKind,
    created: Timestamp,
    depth: u64,
    workspace: Workspace,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    /// The field `inheritable` of the session's cut (where it begins in its parent's log). It is
    /// stored separately because the JSON form of a cut does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "cut_kept")]
    cut_inheritable: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strategy: Option<Strategy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<ToolCallPolicy>,
    inherited: Counts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permissions: Option<BTreeSet<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Data>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<Data>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The session whose beginning this session repeats, in a file that an earlier version wrote.
    /// This version writes `None` here and stores the field in [`State`], because an import may
    /// find later that the session is a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy_of: Option<CopyOf>,
}

/// The spans that a session inherits. The older ones are in the first line of the file `before`,
/// the newer ones in `spans`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ancestry {
    /// The file whose first line contains the older spans. All of them come before those in the
    /// field `spans`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Segment>,
    pub(crate) spans: Vec<Span>,
}

/// A range of inherited events in one file: its inheritable events after the counts `base`. The
/// range ends where the next span (range) begins. The last range ends where the session's own
/// events begin. An event has the same counts in every history that contains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    pub(crate) segment: Segment,
    /// The counts of the history before the first event of this range.
    #[serde(with = "short")]
    pub(crate) base: Counts,
}

impl SessionLine {
    pub(crate) fn new(header: &Header, ancestry: Ancestry) -> Self {
        Self { forklore: VERSION, session: Facts::of(header), ancestry, trimmed: None }
    }

    /// Returns the first line of a deleted session's file after the file is trimmed. The trimmed
    /// file has only the inheritable events up to number `inheritable`, which other sessions
    /// inherit. The new line says so, and lacks the session's principal, metadata and
    /// configuration.
    pub(crate) fn trimmed_to(mut self, inheritable: u64) -> Self {
        self.session.principal = None;
        self.session.metadata = None;
        self.session.config = None;
        self.trimmed = Some(inheritable);
        self
    }
}

impl Facts {
    fn of(header: &Header) -> Self {
        let header = header.clone();
        Self {
            id: header.id,
            root_id: header.root_id,
            parent_id: header.parent_id,
            kind: header.kind,
            created: header.created,
            depth: header.depth,
            workspace: header.workspace,
            cut_inheritable: header.cut.as_ref().map(|cut| cut.inheritable),
            cut: header.cut,
            strategy: header.strategy,
            tool_calls: header.tool_calls,
            inherited: header.inherited,
            principal: header.principal,
            permissions: header.permissions,
            metadata: header.metadata,
            config: header.config,
            dialect: header.dialect,
            source: header.source,
            copy_of: None,
        }
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the three ids that each event line of the session's file contains: the session's,
    /// its parent's and its root's.
    pub(crate) fn writer(&self) -> Writer<'_> {
        Writer { session_id: &self.id, parent_id: self.parent_id.as_ref(), root_id: &self.root_id }
    }

    pub(crate) fn inherited(&self) -> Counts {
        self.inherited
    }

    /// Returns the session's header. Its fields that can change get the values in `state`.
    pub(crate) fn header(self, state: State) -> Header {
        let cut = self
            .cut
            .map(|cut| Cut { inheritable: self.cut_inheritable.unwrap_or_default(), ..cut });
        let mut header = Header {
            id: self.id,
            root_id: self.root_id,
            parent_id: self.parent_id,
            kind: self.kind,
            label: state.label,
            title: state.title,
            cut,
            strategy: self.strategy,
            tool_calls: self.tool_calls,
            inherited: self.inherited,
            counts: state.counts,
            own_events: state.own_events,
            own_bytes: state.own_bytes,
            usage: state.usage,
            workspace: self.workspace,
            principal: self.principal,
            permissions: self.permissions,
            metadata: self.metadata,
            config: self.config,
            dialect: self.dialect,
            created: self.created,
            updated: state.updated,
            depth: self.depth,
            lease: state.lease.map(Into::into),
            detached: state.detached,
            leaf: state.leaf,
            source: self.source,
            copy_of: state.copy_of.or(self.copy_of),
            deleted: None,
        };
        match state.deleted {
            Some(deleted) if state.trash => {
                header.deleted = Some(Tombstone { deleted, restorable: true });
            }
            Some(deleted) => make_tombstone(&mut header, deleted),
            None => {}
        }
        header
    }
}

/// Encodes counts (the five totals of a history up to an event) as a JSON array without names. A
/// line may contain many counts, so a short form is useful.
mod short {
    use forklore_core::Counts;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(counts: &Counts, to: S) -> Result<S::Ok, S::Error> {
        let Counts { inheritable: stored, index, turns, bytes, open } = *counts;
        [stored, index, turns, bytes, open].serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Counts, D::Error> {
        let [stored, index, turns, bytes, open] = <[u64; 5]>::deserialize(from)?;
        Ok(Counts { inheritable: stored, index, turns, bytes, open })
    }
}
