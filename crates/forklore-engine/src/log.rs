//! `log`: writes the events of a session as JSON lines.

use std::io::{self, Write};

use forklore_api::LogRange;
use forklore_core::{Header, SessionId, envelope};
use forklore_store::port::{At, LogEntry};

use crate::{Engine, Error, Result};

impl Engine {
    /// Writes the events in `range` to `out`, one JSON line per event. Each line has the event's
    /// payload and its envelope (seq, id, type and so on). Returns the seq after the last written
    /// event.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing, or the error of writing to
    /// `out`.
    pub fn log(&self, session: &SessionId, range: LogRange, out: &mut impl Write) -> Result<u64> {
        let header = self.show(session)?;
        let mut next = range.from;
        for stored in self.log_events(&header, range) {
            let stored = stored?;
            next = stored.seq + 1;
            write_line(out, &header, &stored)
                .map_err(|source| Error::io("writing the log", source))?;
        }
        Ok(next)
    }

    /// Returns the events of a session whose seqs are in `range`, in ascending seq. Leaves out
    /// inherited events if `range.own` is true.
    ///
    /// An item may be an error: `corrupt` if stored data is damaged, `missing_ancestor` if
    /// inherited events are missing.
    pub fn log_events(
        &self,
        header: &Header,
        range: LogRange,
    ) -> impl Iterator<Item = Result<LogEntry>> + Send + use<> {
        // The log of a child begins with `session_fork` at seq 0, then has the inherited events,
        // then the tail.
        let tail = header.seq_of_own(1);
        let skips = range.own && header.parent_id.is_some();
        let first = (skips && range.from == 0).then(|| self.events(&header.id, At::Seq(0)).take(1));
        let from = if skips { range.from.max(tail) } else { range.from };
        let rest = self.events(&header.id, At::Seq(from));
        first.into_iter().flatten().chain(rest).take_while(move |stored| {
            stored.as_ref().map_or(true, |stored| range.to.is_none_or(|to| stored.seq <= to))
        })
    }
}

/// Writes one event as a JSON object (its payload and its envelope: seq, id, type and so on),
/// followed by a line feed.
fn write_line(out: &mut impl Write, header: &Header, stored: &LogEntry) -> io::Result<()> {
    let origin = (stored.origin.session_id != header.id).then_some(&stored.origin);
    envelope::write_envelope(out, header, stored.seq, origin, &stored.event)?;
    out.write_all(b"\n")
}
