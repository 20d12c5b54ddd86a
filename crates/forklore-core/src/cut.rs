//! Cuts (the positions at which children begin) and selectors (the ways to name a cut)
//! (docs/semantics.md, Where to cut).

pub mod whole;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::id::EventId;

/// A position in a session's log, as a person or a program writes it, such as `seq:3`. The cut (the
/// position at which a fork begins) is directly after the last inheritable event before this
/// position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// The position before the first event, written `start`. A fork there inherits nothing.
    Start,
    /// The position after the last event, written `end`. A fork there inherits every inheritable
    /// event.
    End,
    /// The position after the event at log position N, written `seq:N`. N counts from 0. A negative
    /// N counts from the end: -1 is the last event.
    Seq(i64),
    /// The position after conversation event N, written `message:N`. N counts from 0. A negative N
    /// counts from the end: -1 is the last conversation event.
    Message(i64),
    /// The position after the first N conversation events, written `index:N`.
    Index(u64),
    /// The position after the whole turn N, written `turn:N`. N counts from 1. A negative N counts
    /// from the end: -1 is the last turn.
    Turn(i64),
    /// The position after the event with this id, written `event:ID`.
    Event(EventId),
}

/// The reason why a selector (a written position, such as `seq:3`) gives no cut at which a fork can
/// begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// The string is not a selector (a position in a log, such as `seq:3` or `end`).
    #[error("a cut is start, end, turn:N, message:N, index:N, seq:N or event:ID")]
    Syntax,
    /// The N of the selector `index:N` is negative. N is a count of conversation events and cannot
    /// be negative.
    #[error(
        "an index counts the messages kept, from 0 on; for a place from the end say message:-N"
    )]
    NegativeIndex,
    /// The number in the selector (such as 3 in `seq:3`) is outside the range that is valid for the
    /// session.
    #[error("{requested} is out of range: {valid}")]
    OutOfRange {
        /// The selector that the caller requested.
        requested: Selector,
        /// The valid range of the selector's number, as text for people.
        valid: String,
    },
    /// A fork at the selected position would inherit nothing. Only the selectors `start` and
    /// `index:0` may request an empty history, and the requested selector is neither of them.
    #[error("{requested} keeps nothing; to begin with an empty history say start")]
    NothingToFork {
        /// The selector that the caller requested.
        requested: Selector,
    },
    /// No event of the session has the id that the selector `event:ID` names.
    #[error("no event of the session has the id asked for")]
    NoSuchEvent,
    /// More than one event of the session has the id that the selector `event:ID` names.
    #[error("{count} events have that id; name one by its seq")]
    ManyEvents {
        /// The log positions of the first 20 events that have the requested id.
        seqs: Vec<u64>,
        /// The number of events of the session that have the requested id.
        count: usize,
    },
}

/// The length of a session in all units that a selector can use: log positions, conversation events
/// and turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The log position of the last event; -1 if the log is empty.
    pub head_seq: i64,
    /// The totals of all events of the session, such as the number of its conversation events and
    /// the number of its turns.
    pub counts: Counts,
}

/// A selector converted to the position that a store must look up. Its number has been checked
/// against the length of the session ([`Extent`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutPoint {
    /// The position directly after the first N inheritable events, where N is this number; 0 is the
    /// start of the log.
    Inheritable(u64),
    /// The position after the last inheritable event at or before this log position.
    Seq(u64),
    /// The position after the conversation event with this index, counted from 0.
    Index(u64),
    /// The position before the event that starts this turn. Turns count from 1.
    BeforeTurn(u64),
    /// The position after the event with this id.
    Event(EventId),
}

impl Selector {
    /// Checks the selector's number against `extent` (the length of the session) and returns the
    /// position to look up.
    ///
    /// # Errors
    /// `OutOfRange`, with the valid range, if the number is outside it. A number is never clipped.
    pub fn resolve(&self, extent: &Extent) -> Result<CutPoint, CutError> {
        let out = |valid: String| CutError::OutOfRange { requested: self.clone(), valid };
        let Counts { inheritable: stored, index, turns, .. } = extent.counts;
        match self {
            Self::Start | Self::Index(0) => Ok(CutPoint::Inheritable(0)),
            Self::End => Ok(CutPoint::Inheritable(stored)),
            Self::Seq(n) => from_zero(*n, extent.head_seq.saturating_add(1).unsigned_abs())
                .map(CutPoint::Seq)
                .ok_or_else(|| out(range("seq", 0, extent.head_seq))),
            Self::Message(n) => from_zero(*n, index)
                .map(CutPoint::Index)
                .ok_or_else(|| out(range("message", 0, signed(index) - 1))),
            Self::Index(n) if *n <= index => Ok(CutPoint::Index(n - 1)),
            Self::Index(_) => Err(out(format!("the session has index:0 to index:{index}"))),
            Self::Turn(n) => {
                let turn = if *n > 0 { Some(n.unsigned_abs() - 1) } else { None };
                let turn = turn.or_else(|| from_zero(*n, turns).filter(|_| *n < 0));
                match turn {
                    Some(t) if t + 1 == turns => Ok(CutPoint::Inheritable(stored)),
                    Some(t) if t + 1 < turns => Ok(CutPoint::BeforeTurn(t + 2)),
                    _ => Err(out(range("turn", 1, signed(turns)))),
                }
            }
            Self::Event(id) => Ok(CutPoint::Event(id.clone())),
        }
    }

    /// Checks whether the selector is `start` or `index:0`, the two that explicitly request an
    /// empty history (docs/semantics.md, Where to cut).
    #[must_use]
    pub fn allows_empty(&self) -> bool {
        matches!(self, Self::Start | Self::Index(0))
    }
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn from_zero(n: i64, len: u64) -> Option<u64> {
    let at = if n < 0 { len.checked_sub(n.unsigned_abs())? } else { n.unsigned_abs() };
    (at < len).then_some(at)
}

/// Returns the valid numbers of the selector `{unit}:N`, as text for people.
fn range(unit: &str, first: i64, last: i64) -> String {
    match last - first + 1 {
        ..=0 => format!("the session has no {unit} to name"),
        1 => format!("the session has only {unit}:{first}"),
        count => format!(
            "the session has {unit}:{first} to {unit}:{last}, or {unit}:-{count} to {unit}:-1"
        ),
    }
}

/// The position in a parent's log at which a child begins. Each field gives this position in
/// another unit (docs/semantics.md, Where to cut).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cut {
    /// The log position of the last inherited event, from 0; null if the cut is at the start.
    pub seq: Option<u64>,
    /// The number of inherited conversation events.
    pub index: u64,
    /// The index of the last inherited event among the conversation events, from 0. Null if nothing
    /// is inherited or if that event is not a conversation event, because no selector `message:N`
    /// gives this cut.
    pub message: Option<u64>,
    /// The number of the last inherited turn, from 1. Null if the cut is inside a turn or before
    /// the first turn.
    pub turn: Option<u64>,
    /// The id of the last inherited event; null if the cut is at the start.
    pub event_id: Option<EventId>,
    /// The number of inherited events. This number alone identifies the cut.
    #[serde(skip)]
    pub inheritable: u64,
}

impl Cut {
    /// Builds the cut directly after an inheritable event. `counts`, `seq` and `id` are those of
    /// that event, and `is_conversation` is true if it is a conversation event. `next_is_turn` is
    /// true if the next inheritable event starts a turn, or if no inheritable event follows.
    #[must_use]
    pub fn behind(
        counts: Counts,
        seq: u64,
        id: EventId,
        is_conversation: bool,
        next_is_turn: bool,
    ) -> Self {
        Self {
            seq: Some(seq),
            index: counts.index,
            message: if is_conversation { counts.index.checked_sub(1) } else { None },
            turn: (next_is_turn && counts.turns > 0).then_some(counts.turns),
            event_id: Some(id),
            inheritable: counts.inheritable,
        }
    }

    /// Returns a selector that resolves to this cut, even after more events are appended to the
    /// parent.
    #[must_use]
    pub fn selector(&self) -> Selector {
        self.seq.map_or(Selector::Start, |seq| Selector::Seq(signed(seq)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::End => f.write_str("end"),
            Self::Seq(n) => write!(f, "seq:{n}"),
            Self::Message(n) => write!(f, "message:{n}"),
            Self::Index(n) => write!(f, "index:{n}"),
            Self::Turn(n) => write!(f, "turn:{n}"),
            Self::Event(id) => write!(f, "event:{id}"),
        }
    }
}

impl FromStr for Selector {
    type Err = CutError;
    fn from_str(text: &str) -> Result<Self, CutError> {
        // A number too large for the integer type becomes the limit of that type. `resolve` then
        // reports it as out of range, instead of a syntax error here.
        fn number<T: FromStr>(n: &str, min: T, max: T) -> Result<T, CutError> {
            let digits = n.strip_prefix('-').unwrap_or(n);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(CutError::Syntax);
            }
            Ok(n.parse().unwrap_or(if n.starts_with('-') { min } else { max }))
        }
        let bound = |n| number(n, i64::MIN, i64::MAX);
        match text.split_once(':') {
            None if text == "start" => Ok(Self::Start),
            None if text == "end" => Ok(Self::End),
            Some(("seq", n)) => bound(n).map(Self::Seq),
            Some(("message", n)) => bound(n).map(Self::Message),
            Some(("index", n)) if n.starts_with('-') => Err(CutError::NegativeIndex),
            Some(("index", n)) => number(n, 0, u64::MAX).map(Self::Index),
            Some(("turn", n)) => bound(n).map(Self::Turn),
            Some(("event", id)) => id.parse().map(Self::Event).map_err(|_| CutError::Syntax),
            _ => Err(CutError::Syntax),
        }
    }
}

impl Serialize for Selector {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
