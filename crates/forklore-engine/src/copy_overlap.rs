//! Finds the part of a copy that repeats its original. The copy was imported before its original,
//! so the store contains this part twice. Sums count it once.

use std::path::Path;

use forklore_core::Header;
use forklore_core::Usage;
use forklore_core::agent_format::Line;
use forklore_store::port::{At, LogEntry};

use crate::{Engine, Result};

/// Measures of the repeated part of a copy. A copy is a session that repeats the beginning of
/// another session, the original. The repeated part ends before the first conversation event that
/// the original does not have. It includes usage events directly before that event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Repeated {
    /// Number of conversation events in the repeated part.
    index: u64,
    /// Number of all events in the repeated part.
    pub(crate) events: u64,
    /// Number of inheritable events in the repeated part.
    pub(crate) inherited: u64,
    /// Total size, in bytes, of the event payloads in the repeated part.
    pub(crate) bytes: u64,
    /// The model usage of the events in the repeated part, counted in the same way as in the copy's
    /// header.
    pub(crate) usage: Usage,
}

impl Repeated {
    /// Checks whether an event of the copy belongs to the repeated part.
    pub(crate) fn holds(&self, stored: &LogEntry) -> bool {
        stored.counts.index <= self.index
    }
}

impl Engine {
    /// Measures the part of the session `copy` that repeats another session, its original. Returns
    /// `None` if the session is not a copy.
    pub(crate) fn repeated(&self, copy: &Header) -> Result<Option<Repeated>> {
        let Some(copy_of) = &copy.copy_of else { return Ok(None) };
        let mut repeated = Repeated { index: copy_of.index, ..Repeated::default() };
        let dialect = copy.dialect.as_deref().and_then(|name| self.agent_formats().named(name));
        let path = Path::new(copy.source.as_deref().unwrap_or_default());
        let mut reader = dialect.map(|dialect| dialect.reader(path, None));
        for stored in self.events(&copy.id, At::Seq(0)) {
            let stored = stored?;
            if !repeated.holds(&stored) {
                break;
            }
            let event = &stored.event;
            repeated.events += 1;
            repeated.inherited += u64::from(event.class.is_inherited());
            repeated.bytes += event.data.get().len() as u64;
            let reader = reader.as_mut().filter(|_| event.dialect.is_some());
            if let Some(Line::Record(record)) = reader.map(|reader| reader.read(event.data.get())) {
                repeated.usage += record.usage;
            }
        }
        Ok(Some(repeated))
    }
}
