//! Determines which events of each segment are needed by sessions. Sessions in the trash count as
//! well as living ones.

use std::collections::{HashMap, HashSet};

use forklore_store::Result;

use crate::folder::Folder;
use crate::layout::Segment;
use crate::list::Survey;
use crate::record::{Ancestry, Span};

/// The events that sessions need, for each file of events. Sessions in the trash count as well as
/// living ones. `last` is the count of inheritable events up to the last needed one.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    last: HashMap<Segment, u64>,
}

impl Needs {
    /// Returns the count of inheritable events up to the last one in the file `segment` that a
    /// session needs. Returns 0 if no session needs any.
    pub(crate) fn of(&self, segment: &Segment) -> u64 {
        self.last.get(segment).copied().unwrap_or_default()
    }

    fn note(&mut self, spans: &[Span], end: u64) {
        let ends = spans.iter().skip(1).map(|span| span.base.inheritable).chain([end]);
        for (span, end) in spans.iter().zip(ends) {
            let last = self.last.entry(span.segment.clone()).or_default();
            *last = end.max(*last);
        }
    }
}

impl Needs {
    /// Computes which events sessions need, from the ranges that they inherit. Erased sessions need
    /// none. Reads each range only once, even if several sessions share it. A damaged session may
    /// use the ranges in its first line, or its own copy of the inherited events. If its first line
    /// can be read, the function assumes that it needs both.
    pub(crate) fn read(folder: &Folder, found: &Survey) -> Result<Self> {
        let mut needs = Self::default();
        let mut seen = HashSet::new();
        for (Ancestry { before, spans }, stored) in found.lists() {
            needs.note(&spans, stored);
            let mut next = before;
            while let Some(holder) = next.filter(|holder| seen.insert(holder.clone())) {
                let line = folder.session_line(&holder)?.ok_or_else(|| folder.gone(&holder))?;
                needs.note(&line.ancestry.spans, line.session.inherited().inheritable);
                next = line.ancestry.before;
            }
        }
        Ok(needs)
    }
}
