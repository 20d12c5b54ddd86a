//! Appends events after a session's head.

use forklore_core::{Counts, Event, EventId, Header, OpenCalls, SessionId};
use forklore_store::port::{Append, Appended};
use forklore_store::rules::{appended, check_append, repeated_seqs, repetition};
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::history::History;
use crate::log::{Next, Want, of};
use crate::record::write_event;
use crate::session::Session;

/// Appends the events of `append` to the session. If an earlier call already appended the same
/// events, returns the result of that call and writes nothing.
pub(crate) fn append(folder: &Folder, id: &SessionId, append: &Append) -> Result<Appended> {
    let mut session = folder.writable(id)?;
    let head = session.header.head_seq();
    if let Some(seqs) = repeated_seqs(&session.header, append)? {
        let there = ids_from(&session, *seqs.start(), append.events.len())?;
        if let Some(earlier) = repetition(&session.header, append, &seqs, there.iter()) {
            return Ok(earlier);
        }
    }
    let now = folder.clock.now();
    check_append(&session.header, append, now)?;
    let open = match session.header.counts.open {
        0 => Some(OpenCalls::default()),
        _ if !append.events.iter().any(changes_calls) => None,
        _ => Some(History::of(folder, &session).open_calls(head)?),
    };
    let mut tail = Tail { header: &mut session.header, open, lines: String::new() };
    append.events.iter().try_for_each(|event| tail.push(event))?;
    let lines = tail.lines;
    session.header.usage += append.usage;
    session.header.updated = append.now.min(now);
    folder.commit(&mut session, lines)?;
    Ok(appended(head, &session.header))
}

fn changes_calls(event: &Event) -> bool {
    event.effect.starts_turn || !event.effect.calls.is_empty()
}

/// Returns the ids of at most `most` events that the session wrote itself, beginning at seq `from`.
fn ids_from(session: &Session, from: u64, most: usize) -> Result<Vec<EventId>> {
    let failed = |error| of(error, &session.header.id, Some(from));
    let mut ids = Vec::new();
    if let Some(at) = session.log.search(Want::Seq(from)).map_err(failed)? {
        let read = session.log.forward(at, true, |_, there| {
            ids.push(there.event.id.clone());
            Ok(if ids.len() < most { Next::Go } else { Next::Stop })
        });
        read.map_err(failed)?;
    }
    Ok(ids)
}

/// A buffer of events, encoded as lines for an append to a session's file. Each added event also
/// updates the session's header.
pub(crate) struct Tail<'h> {
    /// The header of the session to which the events are appended. Its counts include the added
    /// events.
    pub(crate) header: &'h mut Header,
    /// The open tool calls (those without a result) after the last event. `None` if no added event
    /// opens or closes a call; the number of open calls in the header is then sufficient.
    pub(crate) open: Option<OpenCalls>,
    /// The added events as lines of the session's file, not written yet.
    pub(crate) lines: String,
}

impl Tail<'_> {
    /// Adds a child's `session_fork`, the event that records its fork. It has seq 0 and comes
    /// before the inherited events.
    pub(crate) fn push_fork(&mut self, event: &Event) -> Result<()> {
        self.put(event, Counts::default())
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<()> {
        let before = self.header.counts;
        self.header.counts = match &mut self.open {
            Some(open) => {
                open.step(&event.effect);
                before.after(event, open)
            }
            None => Counts { open: before.open, ..before.after(event, &OpenCalls::default()) },
        };
        self.put(event, self.header.counts)
    }

    fn put(&mut self, event: &Event, counts: Counts) -> Result<()> {
        let seq = self.header.seq_of_own(self.header.own_events);
        write_event(&mut self.lines, &*self.header, seq, None, counts, event)
            .map_err(|error| Error::io(format!("writing event {}", event.id), error))?;
        self.header.own_events += 1;
        self.header.own_bytes += event.data.get().len() as u64;
        Ok(())
    }
}
