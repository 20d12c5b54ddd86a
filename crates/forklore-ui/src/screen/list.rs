//! The list of sessions. Families are folded; pages are loaded when the screen comes near them.

use std::collections::{HashMap, HashSet};

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

use crate::cursor::Cursor;
use crate::found::Needle;
use crate::keys::{Command, Scope};
use crate::model::Row;
use crate::request::{Answer, Request};

/// The number of sessions on the first page. Each further page is four times as large, up to
/// [`LARGEST`].
const PAGE: usize = 200;
/// The number of sessions on the largest pages.
const LARGEST: usize = 8_192;
/// The number of lines of the list for whose sessions one request reads the first words, while the
/// user searches the list for a text.
const WORDS: usize = 200;
/// The number of rows that should be loaded below the screen. If there are fewer, more are loaded.
const MARGIN: usize = 50;

/// How far the list is loaded.
#[derive(Clone, Debug, PartialEq)]
enum Loaded {
    Nothing,
    /// The next page begins after this cursor.
    Until(String),
    All,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// A family, which its last updated session stands for. The number is the index of that session
    /// in `rows`.
    Family(usize),
    /// A session of an unfolded family: the id of the root, and the index of the session in the
    /// family.
    Member(SessionId, usize),
}

/// The list of sessions, those in the trash, or those to choose from.
#[derive(Clone, Debug)]
pub(crate) struct List {
    scope: Scope,
    workspace: Option<Workspace>,
    rows: Vec<Row>,
    ids: HashSet<SessionId>,
    loaded: Loaded,
    page: usize,
    is_loading: bool,
    wants_end: bool,
    lines: Vec<Line>,
    sizes: HashMap<SessionId, usize>,
    unfolded: HashMap<SessionId, Vec<Row>>,
    words_requested: HashSet<SessionId>,
    finding: Option<Finding>,
    cursor: Cursor,
    /// The session to which the cursor moves as soon as the list contains that session again.
    /// `None` if no session is awaited.
    awaited: Option<SessionId>,
    damaged: usize,
}

/// A search for a text in the list that waits for what is not loaded yet.
#[derive(Clone, Debug)]
struct Finding {
    needle: Needle,
    /// The index of the first line that was not looked at yet.
    from: usize,
    /// Whether the lines before the cursor are still to be looked at.
    wraps: bool,
}

/// A line of the list as it is shown.
pub(crate) struct ShownRow<'a> {
    pub(crate) row: &'a Row,
    /// The number of further sessions of the family that the line stands for. 0 if the line does
    /// not stand for a family.
    pub(crate) further: usize,
    /// Whether the line belongs to an unfolded family above it.
    pub(crate) is_member: bool,
    pub(crate) is_current: bool,
}

impl List {
    pub(crate) fn new(scope: Scope, workspace: Option<Workspace>) -> Self {
        Self {
            scope,
            workspace,
            rows: Vec::new(),
            ids: HashSet::new(),
            loaded: Loaded::Nothing,
            page: PAGE,
            is_loading: false,
            wants_end: false,
            lines: Vec::new(),
            sizes: HashMap::new(),
            unfolded: HashMap::new(),
            words_requested: HashSet::new(),
            finding: None,
            cursor: Cursor::default(),
            awaited: None,
            damaged: 0,
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    pub(crate) fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    pub(crate) fn damaged(&self) -> usize {
        self.damaged
    }

    /// Returns the number of sessions in memory, and whether these are all.
    pub(crate) fn count(&self) -> (usize, bool) {
        (self.rows.len(), self.loaded == Loaded::All)
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading
    }

    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = ShownRow<'_>> {
        let range = self.cursor.visible(self.lines.len(), height);
        let lines = self.lines.iter().enumerate().skip(range.start).take(range.len());
        lines.filter_map(|(at, line)| {
            let row = self.row(line)?;
            let is_member = matches!(line, Line::Member(..));
            let size = self.sizes.get(&row.root).copied().unwrap_or(1);
            let further = if is_member { 0 } else { size.saturating_sub(1) };
            Some(ShownRow { row, further, is_member, is_current: at == self.cursor.at })
        })
    }

    fn row(&self, line: &Line) -> Option<&Row> {
        match line {
            Line::Family(at) => self.rows.get(*at),
            Line::Member(root, at) => self.unfolded.get(root)?.get(*at),
        }
    }

    pub(crate) fn current(&self) -> Option<&Row> {
        self.row(self.lines.get(self.cursor.at)?)
    }

    pub(crate) fn motion(&mut self, command: Command, height: usize) -> bool {
        if command == Command::Last {
            self.wants_end = true;
        }
        let moved = self.cursor.motion(command, self.lines.len(), height);
        if moved && command != Command::Last {
            self.wants_end = false;
        }
        moved
    }

    pub(crate) fn wheel(&mut self, rows: isize, height: usize) {
        self.cursor.wheel(rows, self.lines.len(), height);
    }

    /// Moves the cursor to a row of the screen. Returns whether the cursor was there before.
    pub(crate) fn click(&mut self, row: usize, height: usize) -> bool {
        let before = self.cursor.at;
        let at = self.cursor.top + row;
        if at < self.lines.len() {
            self.cursor.go_to(at, self.lines.len(), height);
        }
        before == at
    }

    pub(crate) fn resize(&mut self, height: usize) {
        self.cursor.settle(self.lines.len(), height);
    }

    /// Shows or hides the sessions of the family under the cursor. Returns the request for these
    /// sessions if they are to be shown.
    pub(crate) fn unfold(&mut self) -> Option<Request> {
        let root = self.current()?.root.clone();
        if self.unfolded.remove(&root).is_some() {
            self.arrange(None);
            return None;
        }
        Some(Request::Family(root))
    }

    /// Returns the requests for the data that the screen lacks.
    pub(crate) fn wants(&mut self, height: usize) -> Vec<Request> {
        let mut wants = Vec::new();
        let is_near = self.cursor.top + height + MARGIN > self.lines.len();
        let after = match &self.loaded {
            _ if self.is_loading => None,
            Loaded::Nothing => Some(None),
            Loaded::Until(cursor) => {
                let wanted = is_near || self.wants_end || self.finding.is_some();
                wanted.then(|| Some(cursor.clone()))
            }
            Loaded::All => None,
        };
        if let Some(after) = after {
            self.is_loading = true;
            let (workspace, trash) = (self.workspace.clone(), self.scope == Scope::Trash);
            wants.push(Request::List { workspace, trash, after, limit: self.page });
        }
        let wanted = |row: &&Row| self.lacks_words(row) && !self.words_requested.contains(&row.id);
        let from = self.finding.as_ref().map_or(usize::MAX, |finding| finding.from);
        let sought = self.lines.iter().skip(from).take(WORDS).filter_map(|line| self.row(line));
        let visible = self.visible(height).map(|shown| shown.row);
        let lacking = visible.chain(sought).filter(wanted).map(|row| row.id.clone());
        let lacking: Vec<_> = lacking.collect();
        if !lacking.is_empty() {
            self.words_requested.extend(lacking.iter().cloned());
            wants.push(Request::Words(lacking));
        }
        wants
    }

    /// Adds the data of an answer to the list. Returns a remark for the user, if there is one.
    pub(crate) fn receive(&mut self, answer: &Answer, height: usize) -> Option<&'static str> {
        match answer {
            Answer::List { rows, next, damaged, .. } => {
                self.is_loading = false;
                self.loaded = next.clone().map_or(Loaded::All, Loaded::Until);
                self.damaged = self.damaged.max(*damaged);
                self.page = (self.page * 4).min(LARGEST);
                let from = self.rows.len();
                let new = rows.iter().filter(|row| self.ids.insert(row.id.clone()));
                self.rows.extend(new.cloned());
                self.add_lines(from);
                self.after_load(height);
            }
            Answer::Words(words) => {
                let words: HashMap<_, _> = words.iter().map(|(id, text)| (id, text)).collect();
                let members = self.unfolded.values_mut().flatten();
                for row in self.rows.iter_mut().chain(members) {
                    if let Some(text) = words.get(&row.id) {
                        row.words = Some((*text).clone());
                    }
                }
                // A session that is gone has no first words. Empty words mark them as read.
                let requested = &self.words_requested;
                let gone = self.rows.iter_mut().filter(|row| requested.contains(&row.id));
                gone.for_each(|row| {
                    row.words.get_or_insert_default();
                });
            }
            Answer::Family(rows) => {
                if let Some(first) = rows.first() {
                    self.unfolded.insert(first.root.clone(), rows.clone());
                    self.arrange(None);
                }
            }
            Answer::Rows { rows, .. } => self.renew(rows),
            Answer::Failed(_) => {
                (self.is_loading, self.finding) = (false, None);
                if self.loaded == Loaded::Nothing {
                    self.loaded = Loaded::All;
                }
            }
            _ => {}
        }
        self.cursor.settle(self.lines.len(), height);
        let can_go_on = matches!(answer, Answer::List { .. } | Answer::Words(_));
        let finding = self.finding.take_if(|_| can_go_on)?;
        (!self.find_on(finding, height)).then_some("not found")
    }

    fn after_load(&mut self, height: usize) {
        if self.wants_end {
            self.cursor.go_to(usize::MAX, self.lines.len(), height);
            self.wants_end = self.loaded != Loaded::All;
        }
    }

    /// Adds the lines of the rows from the index `from` on.
    fn add_lines(&mut self, from: usize) {
        for (at, row) in self.rows.iter().enumerate().skip(from) {
            let size = self.sizes.entry(row.root.clone()).or_default();
            *size += 1;
            // A deleted session is listed alone, because it can be brought back alone.
            if *size == 1 || self.scope == Scope::Trash {
                self.lines.push(Line::Family(at));
                if let Some(members) = self.unfolded.get(&row.root) {
                    let members = (0..members.len())
                        .filter(|n| members.get(*n).is_some_and(|member| member.id != row.id));
                    self.lines.extend(members.map(|n| Line::Member(row.root.clone(), n)));
                }
            }
        }
        if self.scope == Scope::Trash {
            self.sizes.clear();
        }
    }

    /// Rebuilds the lines. Moves the cursor to the session `on`; `None` keeps the cursor on its
    /// session.
    fn arrange(&mut self, on: Option<&SessionId>) {
        let on = on.cloned().or_else(|| self.current().map(|row| row.id.clone()));
        self.lines.clear();
        self.sizes.clear();
        self.add_lines(0);
        let at = self
            .lines
            .iter()
            .position(|line| self.row(line).is_some_and(|row| Some(&row.id) == on.as_ref()));
        self.cursor.at = at.unwrap_or(self.cursor.at);
    }

    /// Removes sessions that were deleted.
    pub(crate) fn remove(&mut self, gone: &[SessionId]) {
        if gone.iter().all(|id| !self.ids.contains(id)) && self.unfolded.is_empty() {
            return;
        }
        let gone: HashSet<_> = gone.iter().collect();
        let at = self.cursor.at;
        let after = self.lines.iter().skip(at).filter_map(|line| self.row(line));
        let next = after.map(|row| &row.id).find(|id| !gone.contains(id)).cloned();
        self.rows.retain(|row| !gone.contains(&row.id));
        self.ids.retain(|id| !gone.contains(id));
        for members in self.unfolded.values_mut() {
            members.retain(|row| !gone.contains(&row.id));
        }
        self.arrange(next.as_ref());
    }

    /// Moves the cursor to a session that was brought back, as soon as its row arrives.
    pub(crate) fn wait_for(&mut self, session: SessionId) {
        self.awaited = Some(session);
    }

    /// Replaces rows by newer versions. Puts each row at its position in the order of update times.
    fn renew(&mut self, rows: &[Row]) {
        let new: HashMap<_, _> = rows.iter().map(|row| (&row.id, row)).collect();
        let awaited = self.awaited.take_if(|session| new.contains_key(session));
        let on = awaited.or_else(|| self.current().map(|row| row.id.clone()));
        let mut words = HashMap::new();
        self.rows.retain(|row| {
            if new.contains_key(&row.id) {
                words.insert(row.id.clone(), row.words.clone());
            }
            !new.contains_key(&row.id)
        });
        for row in rows {
            let order = |other: &Row| {
                other.updated > row.updated || (other.updated == row.updated && other.id < row.id)
            };
            let at = self.rows.partition_point(order);
            if at == self.rows.len() && self.loaded != Loaded::All {
                self.ids.remove(&row.id);
                continue;
            }
            let words = words.get(&row.id).cloned().flatten();
            self.ids.insert(row.id.clone());
            self.words_requested.remove(&row.id);
            self.rows.insert(at, Row { words, ..row.clone() });
        }
        for members in self.unfolded.values_mut() {
            for member in members.iter_mut() {
                if let Some(row) = new.get(&member.id) {
                    *member = Row { words: member.words.clone(), ..(*row).clone() };
                }
            }
        }
        self.arrange(on.as_ref());
    }

    /// Moves the cursor to the next row that contains a text. At the end of the list, continues
    /// from the other end. A forward search also loads further pages and first words, and returns
    /// true while it waits for them. Returns false if no row contains the text.
    pub(crate) fn find(&mut self, needle: &Needle, backward: bool, height: usize) -> bool {
        if !backward {
            let (from, wraps) = (self.cursor.at + 1, true);
            return self.find_on(Finding { needle: needle.clone(), from, wraps }, height);
        }
        let at = self.cursor.at;
        let lines = self.lines.iter().enumerate();
        let found = lines.filter(|(_, line)| self.matches(line, needle)).map(|(at, _)| at);
        let found: Vec<_> = found.collect();
        let before = found.iter().rev().find(|found| **found < at).or(found.last());
        if let Some(at) = before {
            self.cursor.go_to(*at, self.lines.len(), height);
        }
        before.is_some()
    }

    /// Continues a forward search. Returns false if no row contains the text, and true if the text
    /// was found or if the search waits for data.
    fn find_on(&mut self, mut finding: Finding, height: usize) -> bool {
        loop {
            for at in finding.from..self.lines.len() {
                let Some(line) = self.lines.get(at) else { break };
                if self.matches(line, &finding.needle) {
                    self.cursor.go_to(at, self.lines.len(), height);
                    return true;
                }
                if self.row(line).is_some_and(|row| self.lacks_words(row)) {
                    self.finding = Some(Finding { from: at, ..finding });
                    return true;
                }
            }
            if self.loaded != Loaded::All {
                let from = self.lines.len().max(finding.from);
                self.finding = Some(Finding { from, ..finding });
                return true;
            }
            if !finding.wraps {
                return false;
            }
            (finding.from, finding.wraps) = (0, false);
        }
    }

    /// Checks whether the first words of a session must still be read.
    fn lacks_words(&self, row: &Row) -> bool {
        row.title.is_none() && row.words.is_none() && self.scope != Scope::Trash
    }

    fn matches(&self, line: &Line, needle: &Needle) -> bool {
        self.row(line).is_some_and(|row| {
            let texts = [&row.name(), &row.label, &row.agent, &row.folder];
            texts.iter().any(|text| !needle.ranges(text.as_str()).is_empty())
                || !needle.ranges(row.id.as_str()).is_empty()
        })
    }
}
