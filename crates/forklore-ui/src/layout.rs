//! Lays out entries of a conversation as lines.

use forklore_core::Role;
use jiff::tz::TimeZone;

use crate::found::Needle;
use crate::model::{Entry, EntryKind, Piece};
use crate::text::{Line, wrapped};
use crate::tone::Tone;

/// The number of columns by which the text of an entry is indented. On a narrow screen, the number
/// is smaller.
const INDENT: usize = 3;

/// How entries are laid out.
pub(crate) struct Layout<'a> {
    /// The width in columns.
    pub(crate) width: usize,
    /// The text to highlight. `None` highlights nothing.
    pub(crate) needle: Option<&'a Needle>,
    /// The time zone in which times are shown.
    pub(crate) zone: &'a TimeZone,
}

impl Layout<'_> {
    fn indent(&self) -> usize {
        INDENT.min(self.width / 10)
    }

    /// Returns the lines of an entry. If the entry before is from another branch, the first line
    /// has the name of the branch. The last line is empty, unless `is_last` is set.
    pub(crate) fn lines(
        &self,
        before: Option<&Entry>,
        entry: &Entry,
        is_last: bool,
        unfolded: bool,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        let is_new = before.is_none_or(|before| before.branch != entry.branch);
        if is_new && entry.kind != EntryKind::Damaged {
            let name = if entry.branch.is_empty() { "a deleted branch" } else { "" };
            lines.push(
                Line::of(Tone::Dim, "── ")
                    .safe(Tone::Label, entry.branch.clone())
                    .and(Tone::Bad, name)
                    .and(Tone::Dim, " ──"),
            );
        }
        if entry.kind == EntryKind::Event {
            lines.extend(self.event(entry, unfolded));
            return lines;
        }
        lines.push(self.heading(entry));
        for piece in &entry.parts {
            lines.extend(self.piece(piece, unfolded));
        }
        if !is_last {
            lines.push(Line::default());
        }
        lines
    }

    /// Returns the heading of an entry: its number, its role, and its time.
    pub(crate) fn heading(&self, entry: &Entry) -> Line {
        let (tone, name) = match entry.kind {
            EntryKind::Message(role) => role_name(role),
            EntryKind::Summary => (Tone::Warn, "summary"),
            EntryKind::Event => (Tone::Dim, "event"),
            EntryKind::Damaged => (Tone::Bad, "cannot be read"),
        };
        let number = entry.index.map_or(String::new(), |index| format!("{index}  "));
        let mut line = Line::of(Tone::Dim, number).and(tone, name);
        if entry.starts_turn {
            line = line.and(Tone::Dim, format!("  turn {}", entry.turn));
        }
        if let Some(ts) = entry.ts {
            line = line.and(
                Tone::Dim,
                ts.to_zoned(self.zone.clone()).strftime("  %Y-%m-%d %H:%M").to_string(),
            );
        }
        if entry.partial { line.and(Tone::Warn, "  interrupted") } else { line }
    }

    /// Returns the lines of an event that is no message: one line, or all lines if `unfolded` is
    /// set.
    fn event(&self, entry: &Entry, unfolded: bool) -> Vec<Line> {
        let name = Line::of(Tone::Dim, format!("{:>4}  {} ", entry.seq, entry.name));
        if unfolded {
            let pieces = entry.parts.iter().flat_map(|piece| self.piece(piece, true));
            return std::iter::once(name).chain(pieces).collect();
        }
        let texts = entry.parts.iter().map(|piece| piece.shown(false).1.clone());
        vec![texts.fold(name, |line, text| line.safe(Tone::Dim, text))]
    }

    /// Returns the lines of a part of an entry. A folded part is one line, cut at the edge.
    pub(crate) fn piece(&self, piece: &Piece, unfolded: bool) -> Vec<Line> {
        let (tone, text) = piece.shown(unfolded);
        if text.is_empty() {
            return Vec::new();
        }
        let ranges = self.needle.map(|needle| needle.ranges(text.as_str())).unwrap_or_default();
        let marks: Vec<_> = ranges.into_iter().map(|range| (range, Tone::Found)).collect();
        let is_line = matches!(piece, Piece::Folded { .. }) && !unfolded;
        let width = if is_line { usize::MAX } else { self.width };
        wrapped(text, tone, &marks, self.indent(), width)
    }
}

/// Returns the name of a role, with its tone.
pub(crate) fn role_name(role: Role) -> (Tone, &'static str) {
    let tone = match role {
        Role::System => Tone::Dim,
        Role::User => Tone::User,
        Role::Assistant => Tone::Assistant,
        Role::Tool => Tone::Tool,
    };
    (tone, role.as_str())
}
