//! Two sessions next to each other, after the messages that both have.

use forklore_core::SessionId;
use jiff::tz::TimeZone;

use crate::keys::Command;
use crate::layout::Layout;
use crate::model::{Entry, Piece, Row};
use crate::request::{Answer, Compared, Request};
use crate::safe::Safe;
use crate::screen::reader::Size;
use crate::scroll::{At, End, Scroll};
use crate::text::{Line, wrapped};
use crate::tone::Tone;
use crate::words::changed;

/// The number of pairs that one request reads.
const PAIRS: u64 = 48;

/// The messages of the two sessions at the same position.
#[derive(Clone, Debug)]
struct Pair {
    number: u64,
    entries: [Option<Entry>; 2],
}

/// Two sessions next to each other.
#[derive(Clone, Debug)]
pub(crate) struct Compare {
    ids: [SessionId; 2],
    zone: TimeZone,
    about: Option<About>,
    scroll: Scroll<Pair>,
    jump: Option<u64>,
    is_loading: bool,
    unfolded: std::collections::HashSet<u64>,
    unfold_all: bool,
    /// Whether a session changed after the request in progress was made.
    is_stale: bool,
    is_gone: bool,
    failure: Option<Safe>,
}

/// The two sessions, how many messages both have, and how many only each of them has.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) sessions: [Row; 2],
    pub(crate) common: u64,
    pub(crate) alone: [u64; 2],
}

impl Compare {
    pub(crate) fn of(a: SessionId, b: SessionId, zone: TimeZone) -> Self {
        Self {
            ids: [a, b],
            zone,
            about: None,
            scroll: Scroll::default(),
            jump: Some(0),
            is_loading: false,
            unfolded: std::collections::HashSet::new(),
            unfold_all: false,
            is_stale: false,
            is_gone: false,
            failure: None,
        }
    }

    pub(crate) fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    pub(crate) fn failure(&self) -> Option<&Safe> {
        self.failure.as_ref()
    }

    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = (At, &Line)> {
        self.scroll.visible(height)
    }

    pub(crate) fn cursor(&self) -> At {
        self.scroll.cursor()
    }

    fn pairs(&self) -> u64 {
        self.about.as_ref().map_or(0, |about| about.alone.into_iter().max().unwrap_or(0))
    }

    pub(crate) fn motion(&mut self, command: Command, size: Size) -> bool {
        if self.scroll.motion(command, size.height) {
            return true;
        }
        match command {
            Command::First => self.jump = Some(0),
            Command::Last => self.jump = Some(self.pairs().saturating_sub(1)),
            _ => return false,
        }
        true
    }

    pub(crate) fn wheel(&mut self, lines: isize, size: Size) {
        self.scroll.wheel(lines, size.height);
    }

    pub(crate) fn click(&mut self, row: usize, size: Size) -> bool {
        let before = self.scroll.current().map(|pair| pair.number);
        self.scroll.click(row, size.height);
        before.is_some() && before == self.scroll.current().map(|pair| pair.number)
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.scroll.renew();
        self.lay_out_new(size);
    }

    fn lay_out_new(&mut self, size: Size) {
        let (unfolded, all, zone) = (&self.unfolded, self.unfold_all, &self.zone);
        self.scroll.lay_out(size.height, |_, pair, _| {
            lines(pair, size.width, zone, all || unfolded.contains(&pair.number))
        });
    }

    pub(crate) fn unfold(&mut self, size: Size) {
        let Some(number) = self.scroll.current().map(|pair| pair.number) else { return };
        if !self.unfolded.remove(&number) {
            self.unfolded.insert(number);
        }
        self.resize(size);
    }

    pub(crate) fn unfold_all(&mut self, size: Size) {
        self.unfold_all = !self.unfold_all;
        self.unfolded.clear();
        self.resize(size);
    }

    /// Marks the comparison as out of date if `session` is one of the two.
    pub(crate) fn changed(&mut self, session: &SessionId, is_removed: bool) {
        if self.ids.contains(session) {
            self.is_gone = is_removed;
            self.scroll.at_end = false;
            self.is_stale = self.is_loading;
        }
    }

    pub(crate) fn wants(&mut self, size: Size) -> Option<Request> {
        if self.is_loading || self.is_gone || self.failure.is_some() {
            return None;
        }
        let from = match (self.jump, self.scroll.lacks(size.height)) {
            (Some(pair), _) => pair.saturating_sub(PAIRS / 2),
            (None, Some(End::After)) => self.scroll.last().map_or(0, |pair| pair.number + 1),
            (None, Some(End::Before)) => {
                self.scroll.first().map_or(0, |pair| pair.number.saturating_sub(PAIRS))
            }
            (None, None) => return None,
        };
        self.is_loading = true;
        let before = self.scroll.first().filter(|_| self.jump.is_none());
        let limit = match before.map(|pair| pair.number) {
            Some(first) if first > from => first - from,
            _ => PAIRS,
        };
        let common = self.about.as_ref().map(|about| about.common);
        let [a, b] = self.ids.clone();
        Some(Request::Compare { a, b, common, from, limit })
    }

    pub(crate) fn receive(&mut self, answer: &Answer, size: Size) {
        match answer {
            Answer::Compare(compared) => self.add(compared, size),
            Answer::Failed(failed) => {
                self.is_loading = false;
                self.is_gone = failed.is_gone;
                self.failure = Some(failed.message.clone());
            }
            _ => {}
        }
    }

    fn add(&mut self, compared: &Compared, size: Size) {
        self.is_loading = false;
        let Compared { sessions, common, alone, from, pairs } = compared;
        let about = About { sessions: sessions.clone(), common: *common, alone: *alone };
        self.about = Some(about);
        let pairs = (*from..).zip(pairs);
        let pairs: Vec<_> =
            pairs.map(|(number, entries)| Pair { number, entries: entries.clone() }).collect();
        let jump = self.jump.take();
        if jump.is_some() {
            self.scroll.clear();
        }
        let is_before = self.scroll.first().is_some_and(|first| *from < first.number);
        self.scroll.add(if is_before { End::Before } else { End::After }, pairs);
        self.scroll.at_start = self.scroll.first().is_none_or(|first| first.number == 0);
        let next = self.scroll.last().map_or(0, |last| last.number + 1);
        // The answer may be older than a change.
        let is_stale = std::mem::take(&mut self.is_stale);
        self.scroll.at_end = next >= self.pairs() && !is_stale;
        self.lay_out_new(size);
        if let Some(jump) = jump {
            self.scroll.go_to(0, size.height, |pair| pair.number >= jump);
        }
    }
}

/// Returns the lines of a pair, in two columns.
fn lines(pair: &Pair, width: usize, zone: &TimeZone, unfolded: bool) -> Vec<Line> {
    let [a, b] = &pair.entries;
    let column = width.saturating_sub(3) / 2;
    let layout = Layout { width: column, needle: None, zone };
    let side = |own: &Option<Entry>, other: &Option<Entry>, tone: Tone| {
        let own = own.as_ref()?;
        Some(entry_lines(own, other.as_ref(), &layout, unfolded, tone))
    };
    let left = side(a, b, Tone::ChangedA).unwrap_or_default();
    let right = side(b, a, Tone::ChangedB).unwrap_or_default();
    let count = left.len().max(right.len());
    let mut lines = Vec::with_capacity(count + 1);
    for at in 0..count {
        let left = left.get(at).cloned().unwrap_or_default();
        let gap = " ".repeat(column.saturating_sub(left.width()));
        let right = right.get(at).cloned().unwrap_or_default();
        lines.push(left.and(Tone::Plain, gap).and(Tone::Dim, " │ ").then(right));
    }
    let rest = " ".repeat(column);
    lines.push(Line::of(Tone::Plain, rest).and(Tone::Dim, " │ "));
    lines
}

/// Returns the lines of one of two messages. If the two messages are similar, the words that only
/// this message has are marked.
fn entry_lines(
    own: &Entry,
    other: Option<&Entry>,
    layout: &Layout<'_>,
    unfolded: bool,
    tone: Tone,
) -> Vec<Line> {
    let width = layout.width;
    let other = other.filter(|other| other.kind == own.kind);
    let mut lines = vec![fit(layout.heading(own), width)];
    for (at, piece) in own.parts.iter().enumerate() {
        let peer = other.and_then(|other| other.parts.get(at));
        let marks = match (piece, peer) {
            (Piece::Text(own), Some(Piece::Text(other))) => changed(own, other, tone),
            _ => None,
        };
        let found = match (piece, marks) {
            (Piece::Text(text), Some(marks)) => wrapped(text, Tone::Plain, &marks, 0, width),
            _ => layout.piece(piece, unfolded).into_iter().map(|line| fit(line, width)).collect(),
        };
        lines.extend(found);
    }
    lines
}

/// Cuts a line at a width.
fn fit(line: Line, width: usize) -> Line {
    if line.width() <= width {
        return line;
    }
    let mut left = width;
    let mut cut = Line::default();
    for (tone, text) in line.pieces() {
        let shown = text.fit(left);
        left = left.saturating_sub(unicode_width::UnicodeWidthStr::width(shown.as_str()));
        cut = cut.safe(*tone, shown);
        if left == 0 {
            break;
        }
    }
    cut
}
