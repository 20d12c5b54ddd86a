//! The conversation of a session. Only the events around the screen are in memory.

use std::collections::HashSet;

use forklore_core::SessionId;
use jiff::tz::TimeZone;

use crate::found::Needle;
use crate::keys::Command;
use crate::layout::Layout;
use crate::model::{Entry, Row};
use crate::request::{
    Answer, Events, EventsRequest, FindAnswer, FindRequest, Position, Reading, Request,
};
use crate::safe::Safe;
use crate::scroll::{At, End, Scroll};
use crate::text::Line;

/// The number of lines that are shown above a position after a jump to it.
const ABOVE: usize = 2;

/// The size of the part of the screen that shows the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// A running search for a text.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    text: String,
    backward: bool,
    from: u64,
    /// Whether the search has continued from the other end of the session.
    wrapped: bool,
    is_sent: bool,
}

/// The conversation of a session.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    session: SessionId,
    zone: TimeZone,
    row: Option<Row>,
    head: Option<u64>,
    scroll: Scroll<Entry>,
    /// The range of log positions that were read: `from` is the first, and `to` is the one after
    /// the last.
    from: u64,
    to: u64,
    /// Where to go next, if a jump is in progress.
    jump: Option<Position>,
    is_loading: bool,
    unfolded: HashSet<u64>,
    unfold_all: bool,
    all: bool,
    needle: Option<Needle>,
    finding: Option<Finding>,
    words_requested: bool,
    /// Whether the session changed after the request in progress was made.
    is_stale: bool,
    is_gone: bool,
    failure: Option<Safe>,
}

impl Reader {
    pub(crate) fn of(session: SessionId, at: Position, zone: TimeZone) -> Self {
        Self {
            session,
            zone,
            row: None,
            head: None,
            scroll: Scroll::default(),
            from: 0,
            to: 0,
            jump: Some(at),
            is_loading: false,
            unfolded: HashSet::new(),
            unfold_all: false,
            all: false,
            needle: None,
            finding: None,
            words_requested: false,
            is_stale: false,
            is_gone: false,
            failure: None,
        }
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the row of the session, or `None` until it is loaded.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.row.as_ref()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    pub(crate) fn failure(&self) -> Option<&Safe> {
        self.failure.as_ref()
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading && self.scroll.is_empty()
    }

    /// Returns the text that is being searched for, if a search is in progress.
    pub(crate) fn finding(&self) -> Option<&str> {
        self.finding.as_ref().map(|finding| finding.text.as_str())
    }

    /// Returns the entry under the cursor, or `None` if no entry is loaded.
    pub(crate) fn current(&self) -> Option<&Entry> {
        self.scroll.current()
    }

    /// Returns the log position of the session's last event. Returns `None` if it is not loaded, or
    /// if the session has no events.
    pub(crate) fn head(&self) -> Option<u64> {
        self.head
    }

    /// Returns the lines on the screen, each with its position.
    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = (At, &Line)> {
        self.scroll.visible(height)
    }

    pub(crate) fn cursor(&self) -> At {
        self.scroll.cursor()
    }

    pub(crate) fn motion(&mut self, command: Command, size: Size) -> bool {
        if self.scroll.motion(command, size.height) {
            return true;
        }
        match command {
            Command::First => self.jump = Some(Position::Seq(0)),
            Command::Last => self.jump = Some(Position::End),
            Command::NextTurn => self.go_to_turn(self.turn().saturating_add(1)),
            Command::PreviousTurn => {
                let is_start = self.current().is_some_and(|entry| entry.starts_turn);
                let is_top = self.scroll.cursor().line <= 1;
                let back = u64::from(is_start && is_top);
                self.go_to_turn(self.turn().saturating_sub(back));
            }
            _ => return false,
        }
        true
    }

    fn turn(&self) -> u64 {
        self.current().map_or(0, |entry| entry.turn)
    }

    /// Moves to the first event of a turn.
    pub(crate) fn go_to_turn(&mut self, turn: u64) {
        let last = self.row.as_ref().map_or(1, |row| row.turns);
        self.jump = Some(Position::Turn(turn.clamp(1, last.max(1))));
    }

    pub(crate) fn wheel(&mut self, lines: isize, size: Size) {
        self.scroll.wheel(lines, size.height);
    }

    /// Moves the cursor to a row of the screen. Returns whether the cursor was on the same entry
    /// before.
    pub(crate) fn click(&mut self, row: usize, size: Size) -> bool {
        let before = self.current().map(|entry| entry.seq);
        self.scroll.click(row, size.height);
        before.is_some() && before == self.current().map(|entry| entry.seq)
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.lay_out(size);
    }

    fn lay_out(&mut self, size: Size) {
        self.scroll.renew();
        self.lay_out_new(size);
    }

    /// Lays out only the entries that were added, which are usually a small part of those in
    /// memory.
    fn lay_out_new(&mut self, size: Size) {
        let layout = Layout { width: size.width, needle: self.needle.as_ref(), zone: &self.zone };
        let (unfolded, all) = (&self.unfolded, self.unfold_all);
        self.scroll.lay_out(size.height, |before, entry, is_last| {
            layout.lines(before, entry, is_last, all || unfolded.contains(&entry.seq))
        });
    }

    /// Unfolds or folds the entry under the cursor.
    pub(crate) fn unfold(&mut self, size: Size) {
        let Some(seq) = self.current().map(|entry| entry.seq) else { return };
        if self.unfold_all {
            // The other entries stay unfolded, so that only this entry is folded.
            self.unfold_all = false;
            self.unfolded = self.scroll.items().map(|entry| entry.seq).collect();
        }
        if !self.unfolded.remove(&seq) {
            self.unfolded.insert(seq);
        }
        self.lay_out(size);
    }

    pub(crate) fn unfold_all(&mut self, size: Size) {
        self.unfold_all = !self.unfold_all;
        self.unfolded.clear();
        self.lay_out(size);
    }

    /// Shows all events, or only the conversation. Returns whether all are shown.
    pub(crate) fn all_events(&mut self) -> bool {
        self.all = !self.all;
        self.jump = Some(self.current().map_or(Position::End, |entry| Position::Seq(entry.seq)));
        self.all
    }

    /// Begins to find a text, from the cursor on.
    pub(crate) fn find(&mut self, text: &str, backward: bool, size: Size) {
        self.needle = Some(Needle::of(text)).filter(|_| !text.is_empty());
        self.lay_out(size);
        let Some(seq) = self.current().map(|entry| entry.seq) else { return };
        let (from, wrapped) = match backward {
            false => (seq + 1, false),
            true => seq.checked_sub(1).map_or((u64::MAX, true), |from| (from, false)),
        };
        let text = text.to_owned();
        self.finding = Some(Finding { text, backward, from, wrapped, is_sent: false })
            .filter(|_| self.needle.is_some());
    }

    /// Ends a search in progress. Returns false if there is none.
    pub(crate) fn stop_finding(&mut self) -> bool {
        self.finding.take().is_some()
    }

    /// Marks the conversation as out of date after a change of the session by any program, or as
    /// gone if `is_removed` is set.
    pub(crate) fn changed(&mut self, is_removed: bool) {
        self.is_gone = is_removed;
        if !is_removed {
            self.scroll.at_end = false;
            self.is_stale = self.is_loading;
        }
    }

    /// Returns the requests for the data that the screen lacks.
    pub(crate) fn wants(&mut self, size: Size) -> Vec<Request> {
        let mut wants = Vec::new();
        if let Some(finding) = self.finding.as_mut().filter(|finding| !finding.is_sent) {
            finding.is_sent = true;
            wants.push(Request::Find(FindRequest {
                session: self.session.clone(),
                text: finding.text.clone(),
                from: finding.from,
                backward: finding.backward,
                all: self.all,
            }));
        }
        if self.is_loading || self.is_gone || self.failure.is_some() {
            return wants;
        }
        let is_unnamed = self.row.as_ref().is_some_and(|row| row.title.is_none());
        if is_unnamed && !std::mem::replace(&mut self.words_requested, true) {
            wants.push(Request::Words(vec![self.session.clone()]));
        }
        let request = match self.jump {
            Some(at) => {
                let is_end = at == Position::End;
                let direction = if is_end { Reading::Backward } else { Reading::Around };
                Some((at, direction))
            }
            None => self.scroll.lacks(size.height).map(|end| match end {
                End::After => (Position::Seq(self.to), Reading::Forward),
                End::Before => (Position::Seq(self.from), Reading::Backward),
            }),
        };
        if let Some((at, direction)) = request {
            self.is_loading = true;
            let (session, all) = (self.session.clone(), self.all);
            wants.push(Request::Events(EventsRequest { session, at, direction, all }));
        }
        wants
    }

    /// Adds the data of an answer to the conversation. Returns a remark for the user, if there is
    /// one.
    pub(crate) fn receive(&mut self, answer: &Answer, size: Size) -> Option<&'static str> {
        match answer {
            Answer::Events(events) => self.add(events, size),
            Answer::Words(words) => {
                let own = words.iter().find(|(session, _)| *session == self.session);
                if let (Some(row), Some((_, words))) = (&mut self.row, own) {
                    row.words = Some(words.clone());
                }
            }
            Answer::Find(found) => return self.find_answer(*found, size),
            Answer::Failed(failed) => {
                self.is_loading = false;
                self.finding = None;
                self.is_gone = failed.is_gone;
                self.failure = Some(failed.message.clone());
            }
            _ => {}
        }
        None
    }

    fn add(&mut self, events: &Events, size: Size) {
        let end = |head: Option<u64>| head.map_or(0, |head| head + 1);
        let was_at_end = self.to >= end(self.head) && self.scroll.is_on_last_line();
        let jump = self.jump.take();
        let follows = jump.is_none() && events.from >= self.from && was_at_end;
        self.is_loading = false;
        let words = self.row.take().and_then(|row| row.words);
        self.row = Some(Row { words, ..events.row.clone() });
        self.head = events.head;
        if jump.is_some() {
            self.scroll.clear();
            self.scroll.add(End::After, events.entries.clone());
            (self.from, self.to) = (events.from, events.to);
        } else if events.from < self.from {
            if self.scroll.add(End::Before, events.entries.clone()) {
                self.to = self.scroll.last().map_or(self.to, |last| last.seq + 1);
            }
            self.from = events.from;
        } else {
            let new = events.entries.iter().filter(|entry| entry.seq >= self.to);
            if self.scroll.add(End::After, new.cloned().collect()) {
                self.from = self.scroll.first().map_or(self.from, |first| first.seq);
            }
            self.to = events.to.max(self.to);
        }
        self.scroll.at_start = self.from == 0;
        // The answer may be older than a change.
        let is_stale = std::mem::take(&mut self.is_stale);
        self.scroll.at_end = self.to >= end(self.head) && !is_stale;
        self.lay_out_new(size);
        match jump {
            Some(Position::End) => self.scroll.go_to_last(size.height),
            Some(_) => self.go_to(events.at, size),
            None if follows => self.scroll.go_to_last(size.height),
            None => {}
        }
    }

    /// Moves the cursor to the first entry from a log position on, or to the last one.
    fn go_to(&mut self, seq: u64, size: Size) {
        if !self.scroll.go_to(ABOVE, size.height, |entry| entry.seq >= seq) {
            self.scroll.go_to_last(size.height);
        }
    }

    fn find_answer(&mut self, answer: FindAnswer, size: Size) -> Option<&'static str> {
        let finding = self.finding.take()?;
        match answer {
            FindAnswer::Found(seq) => {
                self.unfolded.insert(seq);
                if self.scroll.items().any(|entry| entry.seq == seq) {
                    self.lay_out(size);
                    self.go_to(seq, size);
                } else {
                    self.jump = Some(Position::Seq(seq));
                }
                finding.wrapped.then_some("the search went on from the other end")
            }
            FindAnswer::Continue(from) => {
                self.finding = Some(Finding { from, is_sent: false, ..finding });
                None
            }
            FindAnswer::Nothing if finding.wrapped => Some("not found"),
            FindAnswer::Nothing => {
                let from = if finding.backward { u64::MAX } else { 0 };
                self.finding = Some(Finding { from, wrapped: true, is_sent: false, ..finding });
                None
            }
        }
    }
}
