//! Adding events behind a session's head.

use forklore_core::{Counts, Event, Header, OpenCalls, SessionId};
use forklore_store::port::{Append, Appended};
use forklore_store::rules::check_writer;
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::history::History;
use crate::log::{Next, Want, of};
use crate::record::write_event;
use crate::session::Session;

impl Folder {
    /// Adds the events of `append`, or finds that they are there.
    pub(crate) fn append(&self, id: &SessionId, append: &Append) -> Result<Appended> {
        let mut session = self.writable(id)?;
        let head = session.header.head_seq();
        if append.events.is_empty() {
            return Err(Error::Invalid("an append needs an event".into()));
        }
        if let Some(earlier) = repetition(&session, append)? {
            return Ok(earlier);
        }
        let now = self.clock.now();
        check_writer(&session.header, append.owner.as_deref(), now)?;
        if let Some(expected) = append.expect.filter(|expected| *expected != head) {
            return Err(Error::Conflict { session: id.clone(), expected, head });
        }
        let open = match session.header.counts.open {
            0 => Some(OpenCalls::default()),
            _ if !append.events.iter().any(changes_calls) => None,
            _ => Some(History::of(self, &session).open_calls(head)?),
        };
        let mut tail = Tail { header: &mut session.header, open, lines: String::new() };
        append.events.iter().try_for_each(|event| tail.push(event))?;
        let lines = tail.lines;
        session.header.usage += append.usage;
        session.header.updated = append.now.min(now);
        self.commit(&mut session, lines)?;
        let head_seq = session.header.head_seq();
        let (from_seq, to_seq) = (head.saturating_add(1).unsigned_abs(), head_seq.unsigned_abs());
        Ok(Appended { from_seq, to_seq, head_seq, repeated: false })
    }
}

fn changes_calls(event: &Event) -> bool {
    event.effect.starts_turn || !event.effect.calls.is_empty()
}

/// The earlier success that `append` repeats (SPEC 9).
fn repetition(session: &Session, append: &Append) -> Result<Option<Appended>> {
    let Some(from) = append.expect.and_then(|expect| u64::try_from(expect.checked_add(1)?).ok())
    else {
        return Ok(None);
    };
    let header = &session.header;
    let own = header.parent_id.is_none() || from > header.inherited.kept;
    let to_seq = from.saturating_add(append.events.len() as u64).saturating_sub(1);
    let head_seq = header.head_seq();
    if !own || i64::try_from(to_seq).is_ok_and(|to| to > head_seq) {
        return Ok(None);
    }
    let failed = |error| of(error, &header.id, Some(from));
    let Some(at) = session.log.search(Want::Seq(from)).map_err(failed)? else {
        return Ok(None);
    };
    let mut new = append.events.iter();
    let mut same = true;
    let read = session.log.forward(at, true, |_, there| {
        let Some(event) = new.next() else {
            return Ok(Next::Stop);
        };
        same = there.event.id == event.id;
        Ok(if same { Next::Go } else { Next::Stop })
    });
    read.map_err(failed)?;
    let repeated = same && new.next().is_none();
    Ok(repeated.then_some(Appended { from_seq: from, to_seq, head_seq, repeated }))
}

/// The end of a session's own events, to which more are added.
pub(crate) struct Tail<'h> {
    /// The session, counted on with each event.
    pub(crate) header: &'h mut Header,
    /// The calls open behind the last event; none where only their number counts, because no
    /// event that is added changes them.
    pub(crate) open: Option<OpenCalls>,
    /// The lines of the events added.
    pub(crate) lines: String,
}

impl Tail<'_> {
    /// Adds a child's `session_fork`, which stands before what it inherits.
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
