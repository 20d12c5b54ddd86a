//! Collects what one step of an import writes to the store in one transaction.

use std::collections::HashMap;

use forklore_core::Usage;
use forklore_core::{Event, SessionId};
use forklore_engine::sources::Spread;
use forklore_store::port::{Append, Change, NewSession, Write};
use forklore_store::sources::{
    LineEnd, Progress, RecordKey, RecordLocation, SeenFile, SourceSpan, SourceStep, Target,
};
use jiff::Timestamp;

use crate::event_location::EventLocation;

const BYTES: usize = 8 << 20;
const RECORDS: usize = 4_000;

/// Everything that one import step writes to the store in one transaction. It also describes how
/// the store restores the bytes of the imported file from the events.
#[derive(Default)]
pub(crate) struct Batch {
    writes: Vec<Write>,
    ranges: Vec<SourceSpan>,
    locations: Vec<(RecordKey, RecordLocation)>,
    names: Vec<RecordKey>,
    /// The index in `writes` of this import step's append to each session. The key is the session's
    /// number in the imported file.
    appends: HashMap<u32, usize>,
    recent: HashMap<RecordKey, RecordLocation>,
    bytes: usize,
}

impl Batch {
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BYTES || self.locations.len() >= RECORDS
    }

    /// Checks whether this import step creates the session `id` or appends to it. `session` is the
    /// number of the same session in the imported file.
    pub(crate) fn touches(&self, session: u32, id: &SessionId) -> bool {
        let made = |write: &Write| matches!(write, Write::Create(new) if new.id == *id);
        self.appends.contains_key(&session) || self.writes.iter().any(made)
    }

    /// Returns the location of the last record with this key that the present import step adds.
    /// Returns `None` if the step adds no such record. The store does not contain the step's
    /// records yet.
    pub(crate) fn locate(&self, key: RecordKey) -> Option<RecordLocation> {
        self.recent.get(&key).copied()
    }

    /// Converts this import step into the arguments of one store transaction: the writes, and the
    /// change of the source (the store's copy of the imported file). `target` is the source to
    /// create or to extend. `read` is how far the source then covers the file.
    pub(crate) fn into_step(
        self,
        target: Target,
        native_id: String,
        seen: SeenFile,
        read: Progress,
        last: bool,
    ) -> (Vec<Write>, SourceStep) {
        let Self { writes, ranges, locations, names, .. } = self;
        let sidecar_of = None;
        let step = SourceStep {
            target,
            native_id,
            seen,
            ranges,
            locations,
            names,
            sidecar_of,
            read,
            last,
        };
        (writes, step)
    }

    pub(crate) fn create(&mut self, new: NewSession) {
        self.writes.push(Write::Create(Box::new(new)));
    }

    /// Adds a change of a session's header to this import step.
    pub(crate) fn change(&mut self, session: SessionId, change: Change) {
        self.writes.push(Write::Change { session, change });
    }

    /// Adds a key by which imports of other files find this file in the store.
    pub(crate) fn name(&mut self, name: RecordKey) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Adds an event to the session `id`, which has the number `session` in the imported file.
    /// `head` is the seq of the session's last event before this import step; -1 for an empty
    /// session.
    pub(crate) fn append(
        &mut self,
        session: u32,
        id: &SessionId,
        head: i64,
        event: Event,
        usage: Usage,
    ) {
        self.bytes += event.data.get().len();
        let now = event.ts;
        let append = self.appends.get(&session).and_then(|at| self.writes.get_mut(*at));
        if let Some(Write::Append { append, .. }) = append {
            append.now = append.now.max(now);
            append.usage += usage;
            append.events.push(event);
            return;
        }
        let append = Append { events: vec![event], expect: Some(head), owner: None, usage, now };
        self.appends.insert(session, self.writes.len());
        self.writes.push(Write::Append { session: id.clone(), append });
    }

    pub(crate) fn found(&mut self, key: RecordKey, location: RecordLocation) {
        self.recent.insert(key, location);
        self.locations.push((key, location));
    }

    /// Raises the time of this import step's append to `session` to at least `updated`. `updated`
    /// is the time of the session's latest event. Does nothing if the step appends nothing to the
    /// session.
    pub(crate) fn not_before(&mut self, session: u32, updated: Timestamp) {
        let append = self.appends.get(&session).and_then(|at| self.writes.get_mut(*at));
        if let Some(Write::Append { append, .. }) = append {
            append.now = append.now.max(updated);
        }
    }

    pub(crate) fn event(&mut self, location: RecordLocation, line_end: LineEnd) {
        let RecordLocation { session: at, position, .. } = location;
        if let Some(SourceSpan::Events { session, from, count, end }) = self.ranges.last_mut()
            && *session == at
            && *end == line_end
            && *from + *count == position
        {
            *count += 1;
            return;
        }
        self.ranges.push(SourceSpan::Events {
            session: at,
            from: position,
            count: 1,
            end: line_end,
        });
    }

    /// Records that a line of the file repeats an inherited event of one of the file's sessions.
    /// The line is restored from that event, so its bytes are not stored again.
    pub(crate) fn repeated(&mut self, line: SourceSpan) {
        if let SourceSpan::Inherited { session: at, seq: next, end: line_end, .. } = line
            && let Some(SourceSpan::Inherited { session, seq, count, end }) = self.ranges.last_mut()
            && (*session, *end, *seq + *count) == (at, line_end, next)
        {
            *count += 1;
            return;
        }
        self.ranges.push(line);
    }

    /// Records that a line repeats the event at `spot` in an earlier revision (the file's content
    /// before a rewrite). The line is restored from that event, so its bytes are not stored again.
    pub(crate) fn shared(&mut self, spot: &EventLocation, line_end: LineEnd) {
        if let Some(SourceSpan::Shared { session, seq, count, end }) = self.ranges.last_mut()
            && *session == spot.session
            && (*end, *seq + *count) == (line_end, spot.seq)
        {
            *count += 1;
            return;
        }
        let EventLocation { session, seq } = spot.clone();
        self.ranges.push(SourceSpan::Shared { session, seq, count: 1, end: line_end });
    }

    /// Records that a record repeats the event at `spot` in an earlier revision. The payload of the
    /// event is one line, but the record has several lines in the file. `spread` is the layout
    /// (line breaks and indentation) that restores the record from the payload.
    pub(crate) fn shared_spread(&mut self, spot: &EventLocation, spread: &Spread<'_>) {
        let (margin, indent, end) = (spread.margin.to_vec(), spread.indent.to_vec(), spread.end);
        let EventLocation { session, seq } = spot.clone();
        self.ranges.push(SourceSpan::SharedSpread { session, seq, margin, indent, end });
    }

    /// Adds the bytes and the line end of a line that becomes no event. They are stored with the
    /// imported file, so that the file can be restored.
    pub(crate) fn retain_line(&mut self, bytes: &[u8], end: LineEnd) {
        self.retain(bytes);
        self.retain(end.bytes());
    }

    pub(crate) fn raw(&mut self, location: RecordLocation, bytes: &[u8]) {
        let RecordLocation { session, position, .. } = location;
        self.ranges.push(SourceSpan::Raw { session, position, bytes: bytes.to_vec() });
    }

    /// Records that a record has several lines in the file. The payload of its event, at
    /// `location`, is one line. `spread` is the layout that restores the record from the payload.
    pub(crate) fn spread(&mut self, location: RecordLocation, spread: &Spread<'_>) {
        let RecordLocation { session, position, .. } = location;
        let (margin, indent, end) = (spread.margin.to_vec(), spread.indent.to_vec(), spread.end);
        self.ranges.push(SourceSpan::Spread { session, position, margin, indent, end });
    }

    pub(crate) fn retain(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        match self.ranges.last_mut() {
            _ if bytes.is_empty() => {}
            Some(SourceSpan::Other(before)) => before.extend_from_slice(bytes),
            _ => self.ranges.push(SourceSpan::Other(bytes.to_vec())),
        }
    }

    /// Adds the bytes of the file's unfinished last line. The store already has the first `after`
    /// bytes of this line, and `bytes` are those that follow. `sha256` is the hash of the whole
    /// file.
    pub(crate) fn wait(&mut self, after: u64, bytes: &[u8], sha256: [u8; 32]) {
        self.ranges.push(SourceSpan::Waiting { after, bytes: bytes.to_vec(), sha256 });
    }

    pub(crate) fn gone(&mut self, len: usize) {
        // The skipped bytes count as well: their memory block is not freed while the batch refers
        // to adjacent bytes in it.
        self.bytes += len;
        match self.ranges.last_mut() {
            Some(SourceSpan::Gone(gone)) => *gone += len as u64,
            _ => self.ranges.push(SourceSpan::Gone(len as u64)),
        }
    }
}
