//! What a salvage saved, and what it could not.

use forklore_core::{Header, SessionId};
use serde::Serialize;

/// What a salvage came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Salvage {
    /// Sessions saved; what is left of deleted ones is not counted.
    pub sessions: u64,
    /// Events saved, shared ones once.
    pub events: u64,
    /// Files of agents that can be restored from the new store.
    pub sources: u64,
    /// Attachments saved.
    pub attachments: u64,
    /// What could not be read.
    pub lost: Vec<Lost>,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The session, where known.
    pub session_id: Option<SessionId>,
    /// The log position, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What it is.
    pub what: Piece,
    /// Why, in words.
    pub reason: String,
}

/// What a salvage may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// A session, or what its header said.
    Header,
    /// An event: a marker of the type `x.lost` stands in its place.
    Event,
    /// An event's `data`: the marker has its id, time and class.
    Data,
    /// The file that sessions were read from: it cannot be restored any more.
    Source,
    /// The bytes of an attachment: what names it stays.
    Attachment,
}

impl Salvage {
    pub(super) fn lose(
        &mut self,
        what: Piece,
        session: Option<&SessionId>,
        seq: Option<u64>,
        reason: &(impl ToString + ?Sized),
    ) {
        let (session_id, reason) = (session.cloned(), reason.to_string());
        self.lost.push(Lost { session_id, seq, what, reason });
    }

    /// Says where a session has not the numbers that it had.
    pub(super) fn compare(&mut self, was: &Header, is: &Header) {
        let numbers = |header: &Header| {
            let counts = header.counts;
            (counts.kept, counts.index, counts.turns, header.own_events)
        };
        if numbers(was) != numbers(is) {
            let reason = format!(
                "its header counts {} events, {} of them messages; what could be read are {} and {}",
                was.head_seq() + 1,
                was.counts.index,
                is.head_seq() + 1,
                is.counts.index
            );
            self.lose(Piece::Header, Some(&was.id), None, &reason);
        }
    }
}
