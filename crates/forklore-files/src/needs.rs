//! Determines which events of each segment living sessions need.

use std::collections::{HashMap, HashSet};

use forklore_store::Result;

use crate::folder::Folder;
use crate::layout::Segment;
use crate::list::Survey;
use crate::record::{Ancestry, Span};

/// For each segment, the inheritable events that living sessions need: all up to this running count
/// in the history.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    last: HashMap<Segment, u64>,
}

impl Needs {
    /// Returns the count up to which living sessions need events of `segment`, or 0 if none is
    /// needed.
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
    /// Reads the spans of all living sessions. Reads spans that several sessions share only once.
    /// For a damaged session whose first line can be read, it assumes that the session needs both
    /// the spans in that line and its own copy.
    pub(crate) fn read(folder: &Folder, found: &Survey) -> Result<Self> {
        let mut needs = Self::default();
        let mut seen = HashSet::new();
        for (Ancestry { before, spans }, stored) in found.lists() {
            needs.note(&spans, stored);
            let mut next = before;
            while let Some(holder) = next.filter(|holder| seen.insert(holder.clone())) {
                let line = folder.session_line(&holder)?;
                needs.note(&line.ancestry.spans, line.session.inherited().inheritable);
                next = line.ancestry.before;
            }
        }
        Ok(needs)
    }
}
