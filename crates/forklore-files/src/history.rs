//! Reads a session's assembled history: the parts that it inherits from its ancestors, one after
//! the other, and then its own events.

use std::cell::OnceCell;
use std::collections::HashSet;

use forklore_core::lineage::Unit;
use forklore_core::{Counts, OpenCalls};
use forklore_store::port::LogEntry;
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::fs::Open;
use crate::layout::Segment;
use crate::log::{Log, Next, Want, of};
use crate::record::{Ancestry, EventLine, Span};
use crate::session::Session;

/// The whole history of a session whose file is open. It reads inherited events from the files of
/// other sessions.
pub(crate) struct History<'s> {
    folder: &'s Folder,
    pub(crate) session: &'s Session,
    ancestry: Ancestry,
    all: OnceCell<Vec<Span>>,
}

/// An inherited part of a history, whose events are all in one file.
#[derive(Debug)]
struct Stretch {
    segment: Segment,
    /// The count of inheritable events in the history, up to and including the last event of this
    /// part.
    last: u64,
}

impl<'s> History<'s> {
    pub(crate) fn of(folder: &'s Folder, session: &'s Session) -> Self {
        Self { folder, session, ancestry: session.ancestry(), all: OnceCell::new() }
    }

    fn inherited(&self) -> Counts {
        self.session.header.inherited
    }

    fn missing(&self, missing: impl Into<String>) -> Error {
        let session = self.session.header.id.clone();
        Error::MissingAncestor { session, missing: missing.into() }
    }

    /// Returns a list of spans (ranges of inherited events), one of which contains the wanted
    /// event. The wanted event is the one at which the history's count of `unit` (inheritable
    /// events, conversation events or turns) reaches `want`. The list is the one in the session's
    /// own first line if that suffices, otherwise the complete one.
    fn spans(&self, unit: Unit, want: u64) -> Result<&[Span]> {
        let near = &self.ancestry.spans;
        if near.first().is_some_and(|first| unit.of(&first.base) < want) {
            return Ok(near);
        }
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let all = all_spans(self.folder, &self.ancestry)
            .and_then(|all| all.map_err(|lost| self.missing(lost.to_string())))?;
        Ok(self.all.get_or_init(|| all))
    }

    /// Returns the inherited part of the history that contains the wanted event. The wanted event
    /// is the one at which the history's count of `unit` (inheritable events, conversation events
    /// or turns) reaches `want`.
    fn stretch(&self, unit: Unit, want: u64) -> Result<Stretch> {
        let spans = self.spans(unit, want)?;
        let at = spans.partition_point(|span| unit.of(&span.base) < want).checked_sub(1);
        let (Some(at), Some(span)) = (at, at.and_then(|at| spans.get(at))) else {
            return Err(self.missing("the list of its spans"));
        };
        let end = spans.get(at + 1).map_or(self.inherited(), |next| next.base);
        Ok(Stretch { segment: span.segment.clone(), last: end.inheritable })
    }

    fn open(&self, stretch: &Stretch) -> Result<Log> {
        let log = self.folder.log(&stretch.segment)?;
        log.ok_or_else(|| self.missing(stretch.segment.to_string()))
    }

    /// Returns the seq of the event at which the history's running count of `unit` reaches `want`.
    /// A unit is inheritable events, conversation events or turns. Returns `None` if the count
    /// never reaches `want`.
    pub(crate) fn seq_of(&self, unit: Unit, want: u64) -> Result<Option<u64>> {
        if want == 0 || want > unit.of(&self.session.header.counts) {
            return Ok(None);
        }
        let found = Want::Count(unit, want);
        if want <= unit.of(&self.inherited()) {
            if unit == Unit::Inheritable {
                return Ok(Some(want));
            }
            let stretch = self.stretch(unit, want)?;
            let event = self.open(&stretch)?.get(found, true).map_err(|e| self.named(e, None))?;
            let event = event.ok_or_else(|| self.missing(stretch.segment.to_string()))?;
            return Ok(Some(event.counts.inheritable));
        }
        let event = self.session.log.get(found, true).map_err(|error| self.named(error, None))?;
        event.map(|event| Some(event.seq)).ok_or_else(|| self.gap(None))
    }

    /// Returns the counts of the history up to and including one inheritable event (an event that
    /// forks inherit). `inheritable` is its number among such events, counted from 1. For 0, all
    /// counts are 0.
    pub(crate) fn counts_at(&self, inheritable: u64) -> Result<Counts> {
        let want = Want::Count(Unit::Inheritable, inheritable);
        if inheritable == 0 {
            return Ok(Counts::default());
        }
        let event = if inheritable <= self.inherited().inheritable {
            let stretch = self.stretch(Unit::Inheritable, inheritable)?;
            self.open(&stretch)?
                .get(want, true)
                .map_err(|error| self.named(error, Some(inheritable)))?
        } else {
            self.session.log.get(want, true).map_err(|error| self.named(error, None))?
        };
        let event =
            event.ok_or_else(|| self.missing(format!("inheritable event {inheritable}")))?;
        Ok(event.counts)
    }

    /// Returns the ancestry (list of inherited spans) of a child that inherits the first `count`
    /// inheritable events of this session. The caller ensures that this session inherited all of
    /// them itself.
    pub(crate) fn spans_before(&self, count: u64) -> Result<Ancestry> {
        let near = self.ancestry.spans.first().is_some_and(|first| first.base.inheritable < count);
        let mut list = if near || self.ancestry.before.is_none() {
            self.ancestry.clone()
        } else {
            holder(self.folder, &self.ancestry, count)?
                .map_err(|lost| self.missing(lost.to_string()))?
        };
        let inherited = list.spans.iter().take_while(|span| span.base.inheritable < count);
        list.spans.truncate(inherited.count());
        Ok(list)
    }

    /// Checks that the files of the nearest spans exist, and also the file that contains the list
    /// of earlier spans. A fork is refused if one of these files is lost. Files further back are
    /// not checked, so that the cost of a fork does not grow with the depth.
    pub(crate) fn check_spans(&self, ancestry: &Ancestry) -> Result<()> {
        let spans = ancestry.spans.iter().map(|span| &span.segment);
        for segment in spans.chain(&ancestry.before) {
            let path = self.folder.layout.segment(segment);
            if self.folder.open(&path, Open::Read)?.is_none() {
                return Err(self.missing(segment.to_string()));
            }
        }
        Ok(())
    }

    /// Adds this session's id and the given seq to an error that reports damage.
    fn named(&self, error: Error, seq: Option<u64>) -> Error {
        of(error, &self.session.header.id, seq)
    }

    /// Returns the error for a missing event among the session's own events. If the line of the
    /// event `seq` exists but cannot be read, returns the error for that line.
    fn gap(&self, seq: Option<u64>) -> Error {
        let log = &self.session.log;
        let there = seq.and_then(|seq| log.get(Want::Seq(seq), true).err());
        self.named(there.unwrap_or_else(|| log.damage(log.start, "an event is missing")), seq)
    }

    /// Calls `show` for each event of the history from `seq` on, until `show` returns
    /// [`Next::Stop`].
    ///
    /// # Errors
    /// `Corrupt` or `MissingAncestor` if an event cannot be read or is missing. Without an error,
    /// `show` has received all events up to the head, or up to the one at which it returned
    /// [`Next::Stop`].
    pub(crate) fn walk(
        &self,
        seq: u64,
        bare: bool,
        mut show: impl FnMut(LogEntry) -> Result<Next>,
    ) -> Result<()> {
        let mut seq = seq;
        let head = self.session.header.head_seq();
        while i64::try_from(seq).is_ok_and(|seq| seq <= head) {
            let part = if self.is_inherited(seq) {
                self.walk_inherited(seq, bare, &mut show)?
            } else {
                self.walk_own(seq, bare, &mut show)?
            };
            match part {
                Some(next) => seq = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Checks whether the session inherited the event with this seq.
    fn is_inherited(&self, seq: u64) -> bool {
        (1..=self.inherited().inheritable).contains(&seq)
    }

    fn walk_inherited(
        &self,
        seq: u64,
        bare: bool,
        show: &mut impl FnMut(LogEntry) -> Result<Next>,
    ) -> Result<Option<u64>> {
        let stretch = self.stretch(Unit::Inheritable, seq)?;
        let log = self.open(&stretch)?;
        let mut next = seq;
        let mut stopped = false;
        if let Some(at) = log.search(Want::Count(Unit::Inheritable, seq))? {
            let shown = log.forward(at, bare, |_, event| {
                if !event.event.class.is_inherited() {
                    return Ok(Next::Go);
                }
                if next > stretch.last || event.counts.inheritable != next {
                    return Ok(Next::Stop);
                }
                next += 1;
                stopped = show(inherited(event))? == Next::Stop;
                Ok(if stopped || next > stretch.last { Next::Stop } else { Next::Go })
            });
            shown.map_err(|error| self.named(error, Some(next)))?;
        }
        if stopped {
            return Ok(None);
        }
        if next <= stretch.last {
            return Err(self.missing(format!("event {next} in {}", stretch.segment)));
        }
        Ok(Some(next))
    }

    fn walk_own(
        &self,
        seq: u64,
        bare: bool,
        show: &mut impl FnMut(LogEntry) -> Result<Next>,
    ) -> Result<Option<u64>> {
        let log = &self.session.log;
        let at = log.search(Want::Seq(seq))?.ok_or_else(|| self.gap(Some(seq)))?;
        let mut next = seq;
        let mut stopped = false;
        let shown = log.forward(at, bare, |_, event| {
            if event.seq != next || event.origin.session_id != self.session.header.id {
                return Err(self.gap(Some(next)));
            }
            next = if next == 0 { self.inherited().inheritable + 1 } else { next + 1 };
            stopped = show(own(event))? == Next::Stop;
            // After a child's first event, its `session_fork`, the inherited events follow. They
            // are in another file.
            let elsewhere = seq == 0 && self.is_inherited(1);
            Ok(if stopped || elsewhere { Next::Stop } else { Next::Go })
        });
        shown.map_err(|error| self.named(error, Some(next)))?;
        if stopped {
            return Ok(None);
        }
        if seq == 0 && self.is_inherited(1) {
            return Ok(Some(1));
        }
        if i64::try_from(next).is_ok_and(|next| next <= self.session.header.head_seq()) {
            return Err(self.gap(Some(next)));
        }
        Ok(Some(next))
    }

    /// Calls `show` for each event of the history from `seq` back to the first one, until `show`
    /// returns [`Next::Stop`].
    ///
    /// # Errors
    /// `Corrupt` or `MissingAncestor` if an event cannot be read or is missing, as for
    /// [`History::walk`].
    pub(crate) fn walk_back(
        &self,
        seq: u64,
        bare: bool,
        mut show: impl FnMut(LogEntry) -> Result<Next>,
    ) -> Result<()> {
        let mut seq = Some(seq);
        while let Some(from) = seq {
            let (first, inherits) = match self.is_inherited(from) {
                true => (self.stretch_first(from)?, true),
                false if from == 0 => (0, false),
                false => (self.inherited().inheritable + 1, false),
            };
            let first = if self.session.header.parent_id.is_none() { 0 } else { first };
            let mut next = Some(from);
            let mut stopped = false;
            let mut one = |event: EventLine| {
                if inherits && !event.event.class.is_inherited() {
                    return Ok(Next::Go);
                }
                let number = if inherits { event.counts.inheritable } else { event.seq };
                if next != Some(number) {
                    return Err(self.lost_before(next, inherits));
                }
                next = number.checked_sub(1).filter(|next| *next >= first);
                stopped = show(if inherits { inherited(event) } else { own(event) })? == Next::Stop;
                Ok(if stopped || next.is_none() { Next::Stop } else { Next::Go })
            };
            let shown = if inherits {
                let log = self.open(&self.stretch(Unit::Inheritable, from)?)?;
                back(&log, Want::Count(Unit::Inheritable, from), bare, &mut one)
            } else {
                back(&self.session.log, Want::Seq(from), bare, &mut one)
            };
            shown.map_err(|error| self.named(error, next))?;
            if stopped {
                return Ok(());
            }
            if next.is_some() {
                return Err(self.lost_before(next, inherits));
            }
            seq = first.checked_sub(1);
        }
        Ok(())
    }

    fn lost_before(&self, seq: Option<u64>, inherits: bool) -> Error {
        match (inherits, seq) {
            (true, Some(seq)) => self.missing(format!("event {seq}")),
            _ => self.gap(seq),
        }
    }

    /// Returns the first seq of the inherited part that contains the event `seq`. An inherited part
    /// is a range of events in one file.
    fn stretch_first(&self, seq: u64) -> Result<u64> {
        let spans = self.spans(Unit::Inheritable, seq)?;
        let at = spans.partition_point(|span| span.base.inheritable < seq).checked_sub(1);
        let span = at.and_then(|at| spans.get(at));
        span.map(|span| span.base.inheritable + 1)
            .ok_or_else(|| self.missing("the list of its spans"))
    }

    /// Returns the tool calls that are open (have no result) after the event `seq`.
    pub(crate) fn open_calls(&self, seq: i64) -> Result<OpenCalls> {
        let Ok(seq) = u64::try_from(seq) else {
            return Ok(OpenCalls::default());
        };
        let mut effects = Vec::new();
        // Reading goes backward and may stop at an event after which no call is open: the later
        // events alone determine which calls are open.
        self.walk_back(seq, true, |stored| {
            if stored.counts.open == 0 {
                return Ok(Next::Stop);
            }
            effects.push(stored.event.effect);
            Ok(Next::Go)
        })?;
        Ok(effects.into_iter().rev().collect())
    }
}

fn back(
    log: &Log,
    want: Want,
    bare: bool,
    show: &mut impl FnMut(EventLine) -> Result<Next>,
) -> Result<()> {
    let Some(at) = log.search(want)? else {
        return log.get(want, true).map(|_| ());
    };
    let end = log.behind(at)?;
    log.backward(end, bare, show)
}

fn own(line: EventLine) -> LogEntry {
    let EventLine { seq, origin, counts, event } = line;
    LogEntry { seq, origin, counts, event }
}

fn inherited(line: EventLine) -> LogEntry {
    let EventLine { origin, counts, event, .. } = line;
    LogEntry { seq: counts.inheritable, origin, counts, event }
}

/// Returns all spans of a session's ancestry, oldest first. Reads the older spans from the first
/// lines of ancestors' files. If one of these files is gone, returns it as the inner error.
fn all_spans(
    folder: &Folder,
    ancestry: &Ancestry,
) -> Result<std::result::Result<Vec<Span>, Segment>> {
    let mut parts = vec![ancestry.spans.clone()];
    let mut next = ancestry.before.clone();
    let mut seen = HashSet::new();
    while let Some(holder) = next.filter(|holder| seen.insert(holder.clone())) {
        let Some(line) = folder.session_line(&holder)? else { return Ok(Err(holder)) };
        parts.push(line.ancestry.spans);
        next = line.ancestry.before;
    }
    Ok(Ok(parts.into_iter().rev().flatten().collect()))
}

/// Finds the list of spans that contains the inheritable event number `inheritable`, among the
/// lists before `ancestry`. These lists are in the first lines of ancestors' files. If one of these
/// files is gone, returns it as the inner error.
fn holder(
    folder: &Folder,
    ancestry: &Ancestry,
    inheritable: u64,
) -> Result<std::result::Result<Ancestry, Segment>> {
    let mut next = ancestry.before.clone();
    let mut seen = HashSet::new();
    while let Some(holder) = next.filter(|holder| seen.insert(holder.clone())) {
        let Some(line) = folder.session_line(&holder)? else { return Ok(Err(holder)) };
        let list = line.ancestry;
        if list.before.is_none()
            || list.spans.first().is_some_and(|first| first.base.inheritable < inheritable)
        {
            return Ok(Ok(list));
        }
        next = list.before;
    }
    Ok(Ok(Ancestry::default()))
}
