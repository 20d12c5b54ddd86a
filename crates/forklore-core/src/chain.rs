//! The hash chain over a session's events (docs/semantics.md, Integrity).
//!
//! A chain is computed from the events that any store yields. No store contains hashes, so the
//! chain also covers sessions that were written before it existed.

use std::fmt;

use crate::call::CallStep;
use crate::event::Event;
use crate::header::{Header, Strategy, ToolCallPolicy};
use crate::id::{SessionId, hex};

mod fields;

use fields::Fields;

/// The first field of everything that is hashed. It names what is hashed, and the version.
const SESSION: &str = "forklore.session.1";
const EVENT: &str = "forklore.event.1";
const LINEAGE: &str = "forklore.lineage.1";
const SETTINGS: &str = "forklore.settings.1";

/// A SHA-256 of a log up to one of its events, or of a part of a header. It is shown as 64 hex
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainHash([u8; 32]);

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Computes the hashes of one session while its events are read in ascending seq.
#[derive(Clone, Debug)]
pub struct Chain(ChainHash);

impl Chain {
    /// Starts the chain of a session, before its first event.
    #[must_use]
    pub fn of(session: &SessionId) -> Self {
        let mut fields = Fields::of(SESSION);
        fields.text(session.as_str());
        Self(ChainHash(fields.finish()))
    }

    /// Adds the event at `seq`, which follows the event that was added last.
    pub fn push(&mut self, seq: u64, event: &Event) {
        let Event { id, ts, kind, class, dialect, effect, data } = event;
        let mut fields = Fields::of(EVENT);
        fields.bytes(&self.0.0);
        fields.number(seq);
        fields.text(id.as_str());
        fields.time(*ts);
        fields.text(kind.as_str());
        fields.number(class.code().into());
        fields.optional(dialect.as_deref());
        fields.number(effect.starts_turn.into());
        fields.number(effect.calls.len() as u64);
        for step in &effect.calls {
            match step {
                CallStep::Open(call) => {
                    fields.optional(Some(&call.name));
                    fields.text(&call.id);
                }
                CallStep::Close(id) => {
                    fields.optional(None);
                    fields.text(id);
                }
            }
        }
        fields.json(data);
        self.0 = ChainHash(fields.finish());
    }

    /// Returns the hash of the log up to the event that was added last.
    #[must_use]
    pub fn head(&self) -> ChainHash {
        self.0
    }
}

impl ChainHash {
    /// Hashes what a session's header has had since the session was created: its lineage and the
    /// settings that no command changes.
    #[must_use]
    pub fn lineage(header: &Header) -> Self {
        let mut fields = Fields::of(LINEAGE);
        fields.text(header.id.as_str());
        fields.text(header.root_id.as_str());
        fields.optional(header.parent_id.as_ref().map(SessionId::as_str));
        fields.text(header.kind.as_str());
        fields.number(header.depth);
        fields.number(header.inherited.inheritable);
        fields.serialized(&header.cut);
        fields.optional(header.strategy.map(Strategy::as_str));
        fields.optional(header.tool_calls.map(ToolCallPolicy::as_str));
        fields.text(header.workspace.as_str());
        fields.optional(header.principal.as_deref());
        fields.serialized(&header.permissions);
        fields.optional_json(header.metadata.as_ref());
        fields.optional_json(header.config.as_ref());
        fields.time(header.created);
        Self(fields.finish())
    }

    /// Hashes what commands may change in a session's header, and the sums over its events. Only
    /// the lease, the time of the last write and the tombstone are left out.
    #[must_use]
    pub fn settings(header: &Header) -> Self {
        let mut fields = Fields::of(SETTINGS);
        fields.text(header.label.as_str());
        fields.optional(header.title.as_deref());
        fields.number(header.detached.into());
        fields.optional(header.leaf.as_ref().map(SessionId::as_str));
        fields.optional(header.source.as_deref());
        fields.serialized(&header.copy_of);
        fields.optional(header.dialect.as_deref());
        fields.serialized(&(header.inherited, header.counts));
        fields.number(header.own_events);
        fields.number(header.own_bytes);
        fields.serialized(&header.usage);
        Self(fields.finish())
    }
}
