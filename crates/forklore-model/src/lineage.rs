//! Spans: a session's history as stretches of its ancestors' segments (DESIGN of shared prefixes).
//!
//! A session's own events are one segment. Ancestry never changes after a fork, so a history is a
//! list of spans fixed at fork time, and reading it is one range read per span.

use crate::call::Counts;

/// A stretch of one segment, from its beginning up to a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The segment, by the store's own number.
    pub segment: u64,
    /// The position behind the last event taken.
    pub to: u64,
    /// The counts of the reader's history before this span.
    pub base: Counts,
}
