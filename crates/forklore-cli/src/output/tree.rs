//! Draws trees of sessions with lines. Uses no recursion, so that any depth works.

use forklore::core::{Header, SessionId, SessionKind, ShortIds};
use forklore::engine::TreeNode;
use jiff::Timestamp;

use super::session::label_tone;
use super::{Cell, Column, Look, Page, Table, Tone, age, bytes, count, cut};

/// The maximum depth at which a tree is drawn with lines. A deeper session shows its depth as a
/// number instead.
const DRAWN: usize = 12;

/// One line in the drawing of a tree: a session or a remark.
#[derive(Clone, Debug)]
pub(crate) struct Twig {
    /// The depth in the tree; the root has depth 0.
    pub(crate) depth: usize,
    /// The session of the line. `None` for a remark, which replaces sessions that are not shown.
    session: Option<Drawn>,
    /// The agent that wrote the session's records. Empty if the agent is not shown.
    agent: String,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
struct Drawn {
    id: SessionId,
    details: Option<Details>,
}

#[derive(Clone, Debug)]
struct Details {
    label: String,
    kind: SessionKind,
    cut: String,
    messages: u64,
    own_events: u64,
    own_bytes: u64,
    updated: Timestamp,
    title: String,
}

impl Twig {
    /// Creates a line with a remark, which replaces sessions that are not shown.
    pub(crate) fn remark(depth: usize, text: impl Into<String>) -> Self {
        Self { depth, session: None, agent: String::new(), notes: vec![text.into()] }
    }

    /// Creates the line of the session with this header.
    pub(crate) fn of_header(header: &Header, depth: usize) -> Self {
        let details = Details {
            label: header.label.to_string(),
            kind: header.kind,
            cut: header.cut.as_ref().map(cut).unwrap_or_default(),
            messages: header.counts.index,
            own_events: header.own_events,
            own_bytes: header.own_bytes,
            updated: header.updated,
            title: header.title.clone().unwrap_or_default(),
        };
        let session = Some(Drawn { id: header.id.clone(), details: Some(details) });
        let mut twig = Self { depth, session, agent: String::new(), notes: Vec::new() };
        if header.kind == SessionKind::Delegate {
            twig.note("delegate");
        }
        if header.deleted.is_some() {
            twig.note("deleted");
        }
        twig
    }

    /// Creates the line of a tree node. The node's session may be deleted, missing or damaged.
    pub(crate) fn of_node(node: &TreeNode) -> Self {
        let details = node.header.as_ref().map(|found| Details {
            label: found.label.to_string(),
            kind: found.kind,
            cut: found.cut.as_ref().map(cut).unwrap_or_default(),
            messages: found.head_index,
            own_events: found.own_events,
            own_bytes: found.own_bytes,
            updated: found.updated,
            title: found.title.clone().or_else(|| found.first_words.clone()).unwrap_or_default(),
        });
        let is_delegate = details.as_ref().is_some_and(|found| found.kind == SessionKind::Delegate);
        let session = Some(Drawn { id: node.session_id.clone(), details });
        let agent = String::new();
        let mut twig = Self { depth: node.depth, session, agent, notes: Vec::new() };
        let marks = [
            (is_delegate, "delegate"),
            (node.header.as_ref().is_some_and(|found| found.running), "running"),
            (node.deleted, "deleted"),
            (node.missing, "missing"),
            (node.damaged, "damaged"),
            (node.cycle, "cycle"),
            (node.header.as_ref().is_some_and(|found| found.summary), "summary"),
        ];
        marks.iter().filter(|(marked, _)| *marked).for_each(|(_, mark)| twig.note(*mark));
        if let Some(original) = node.header.as_ref().and_then(|found| found.copy_of.as_ref()) {
            twig.note(format!("copy of {}", original.session_id));
        }
        let mut branches: Vec<_> =
            node.brought.iter().map(|reported| reported.label.as_str()).collect();
        branches.dedup();
        if !branches.is_empty() {
            twig.note(format!("told of {}", branches.join(" and ")));
        }
        twig
    }

    /// Sets the name of the agent that wrote the session's records.
    pub(crate) fn wrote(&mut self, agent: &str) {
        agent.clone_into(&mut self.agent);
    }

    /// Adds a note about the session, such as `deleted` or `here`, to the line.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Checks whether this line shows the session with this id.
    pub(crate) fn is(&self, id: &SessionId) -> bool {
        self.session.as_ref().is_some_and(|drawn| drawn.id == *id)
    }
}

/// Draws session trees on `page`. `twigs` has the lines of the trees in pre-order.
pub(crate) fn draw(page: &mut Page, twigs: &[Twig]) {
    let look = page.look();
    let drawn = || twigs.iter().filter_map(|twig| twig.session.as_ref());
    let short = ShortIds::of(drawn().map(|drawn| &drawn.id));
    let mut table = Table::new(&[
        Column::new("BRANCH").gives_way(),
        Column::new("SESSION"),
        Column::new("AGENT").optional(),
        Column::new("FROM"),
        Column::new("MESSAGES").right().optional(),
        Column::new("OWN").right().optional(),
        Column::new("SIZE").right().optional(),
        Column::new("UPDATED"),
        Column::new(""),
        Column::new("TITLE").gives_way(),
    ]);
    for (twig, lines) in twigs.iter().zip(lines(twigs)) {
        match &twig.session {
            Some(drawn) => table.row(row(drawn, twig, &lines, &short, look)),
            None => table.remark(Cell::new(Tone::Dim, twig.notes.join(", ")).behind(&lines)),
        }
    }
    table.show(page);
}

fn row(drawn: &Drawn, twig: &Twig, lines: &str, short: &ShortIds, look: Look) -> Vec<Cell> {
    let is_gone = twig.notes.iter().any(|note| note == "deleted" || note == "cycle");
    let notes = twig.notes.join(", ");
    let id = Cell::id(short, &drawn.id);
    let Some(details) = &drawn.details else {
        let branch = Cell::new(Tone::Bad, "?").behind(lines);
        let mut row = vec![branch, id];
        row.extend(std::iter::repeat_n(Cell::default(), 6));
        row.push(Cell::new(Tone::Bad, notes));
        return row;
    };
    let tone = if is_gone { Tone::Bad } else { label_tone(details.kind) };
    vec![
        Cell::new(tone, &*details.label).behind(lines),
        id,
        Cell::new(Tone::Plain, &*twig.agent),
        Cell::new(Tone::Plain, &*details.cut),
        Cell::new(Tone::Plain, details.messages.to_string()),
        Cell::new(Tone::Plain, count(details.own_events, "event")),
        Cell::new(Tone::Plain, bytes(details.own_bytes)),
        Cell::new(Tone::Dim, age(look, details.updated)),
        Cell::new(if is_gone { Tone::Bad } else { Tone::Warn }, notes),
        Cell::new(Tone::Dim, &*details.title),
    ]
}

/// Returns the tree lines that are drawn to the left of each label.
fn lines(twigs: &[Twig]) -> Vec<String> {
    let mut lines = Vec::with_capacity(twigs.len());
    // For each level, whether a sibling follows further down. The lines are visited from the last
    // to the first.
    let mut follows: Vec<bool> = Vec::new();
    for twig in twigs.iter().rev() {
        let depth = twig.depth;
        let continued = follows.get(depth).copied().unwrap_or(false);
        follows.resize(depth, false);
        lines.push(line(depth, continued, &follows));
        follows.push(true);
    }
    lines.reverse();
    lines
}

fn line(depth: usize, continued: bool, follows: &[bool]) -> String {
    if depth == 0 {
        return String::new();
    }
    let corner = if continued { "├─ " } else { "└─ " };
    if depth > DRAWN {
        return format!("┊ {depth} deep {corner}");
    }
    let above = follows.iter().skip(1).map(|follows| if *follows { "│  " } else { "   " });
    above.chain([corner]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(depths: &[usize]) -> Vec<String> {
        lines(&depths.iter().map(|depth| Twig::remark(*depth, "")).collect::<Vec<_>>())
    }

    #[test]
    fn lines_lead_to_the_last_child_and_no_further() {
        let expected = ["", "├─ ", "│  ├─ ", "│  │  └─ ", "│  └─ ", "└─ ", "   └─ ", "", "└─ "];
        assert_eq!(drawn(&[0, 1, 2, 3, 2, 1, 2, 0, 1]), expected);
    }

    #[test]
    fn deep_levels_say_how_deep_they_are() {
        let depths: Vec<_> = (0..=20_000).collect();
        let lines = drawn(&depths);
        assert_eq!(lines[12].chars().count(), 36);
        assert_eq!(lines[20_000], "┊ 20000 deep └─ ");
    }
}
