//! Formats messages for users.

mod part;

use forklore::core::describe::Describer;
use forklore::core::{Content, EventType, Header, Label, Message, OpenCalls, Role};
use forklore::engine::{Record, ReplayedSummary};

use super::compared::Block;
use super::words::{self, Line, Word};
use super::{Look, Page, Tone, Zone};

const INDENT: usize = 5;

/// Prints the records of a conversation. A separator line names the branch, if a record was written
/// in another branch than the record before it.
#[derive(Default)]
pub(crate) struct Transcript {
    branch: Option<Label>,
    begun: bool,
    detail: Detail,
    describer: Describer,
}

/// How much of a conversation is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// The maximum number of lines of each text.
    pub(crate) most: usize,
    /// Whether the model's thinking is printed, and not only its size.
    pub(crate) thinking: bool,
    /// Whether the arguments and results of tool calls are printed, and not only one line of each.
    pub(crate) tools: bool,
}

impl Detail {
    /// Everything.
    pub(crate) const FULL: Self = Self { most: usize::MAX, thinking: true, tools: true };
    /// Every text in full, the size of the thinking, and one line for each call and each result.
    pub(crate) const FOLDED: Self = Self { most: usize::MAX, thinking: false, tools: false };
}

impl Default for Detail {
    fn default() -> Self {
        Self::FULL
    }
}

impl Transcript {
    /// Creates a transcript of a session.
    pub(crate) fn of(header: &Header, detail: Detail) -> Self {
        let describer = Describer::in_folder(header.workspace.as_str());
        Self { branch: None, begun: false, detail, describer }
    }

    /// Prints no separator line for the session's own branch, which a heading already names.
    pub(crate) fn under_heading(mut self, branch: &Label) -> Self {
        self.branch = Some(branch.clone());
        self.begun = true;
        self
    }

    /// Adds the calls that are open before the first printed record.
    pub(crate) fn after(&mut self, open: &OpenCalls) {
        open.calls().for_each(|call| self.describer.open(&call.id, &call.name));
    }

    /// Prints a record.
    pub(crate) fn record(&mut self, page: &mut Page, record: &Record) {
        self.enter(page, record.branch.as_ref());
        put_heading(page, record);
        self.content(page, &record.content);
    }

    /// Prints the heading of a record, and then these lines instead of its content.
    pub(crate) fn lines(&mut self, page: &mut Page, record: &Record, lines: &[Line]) {
        self.enter(page, record.branch.as_ref());
        put_heading(page, record);
        let Look { width, wrap, .. } = page.look();
        let width = if wrap { width.saturating_sub(INDENT).max(20) } else { usize::MAX };
        for line in words::most(words::wrapped(lines, width), self.detail.most) {
            page.pad(INDENT);
            words::put(page, &line);
            page.end();
        }
    }

    /// Returns the texts of a message as they are printed, in full.
    pub(crate) fn blocks(&mut self, content: &Content) -> Vec<Block> {
        let (detail, describer) = (self.detail, &mut self.describer);
        match content {
            Content::Text(text) => vec![Block { tone: Tone::Plain, text: text.clone() }],
            Content::Parts(parts) => parts
                .iter()
                .map(|part| part::text(part, detail, describer))
                .map(|(tone, text)| Block { tone, text })
                .collect(),
        }
    }

    /// Prints a summary, which stands between two records.
    pub(crate) fn summary(&mut self, page: &mut Page, summary: &ReplayedSummary) {
        self.enter(page, summary.branch.as_ref());
        let is_compaction = summary.kind == EventType::HISTORY_COMPACTION;
        let name = if is_compaction { "compaction" } else { "branch summary" };
        page.pad(INDENT);
        let time = page.look().zone.time(summary.ts);
        page.put(Tone::Warn, name).put(Tone::Dim, format!("  {time}")).end();
        for message in &summary.messages {
            self.content(page, &message.content);
        }
    }

    /// Prints a message in full, as the model receives it, with its number in the conversation.
    pub(crate) fn message(&mut self, page: &mut Page, number: Option<u64>, message: &Message) {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        page.put(Tone::Dim, format!("{number:>3}  "));
        page.put(tone(message.role), message.role.as_str()).end();
        self.content(page, &message.content);
    }

    /// Prints a line with the name of the branch in which the next record was written. Prints it at
    /// the beginning and where the branch changes.
    fn enter(&mut self, page: &mut Page, branch: Option<&Label>) {
        if self.begun && self.branch.as_ref() == branch {
            return;
        }
        let name = branch.map_or("a deleted branch", Label::as_str);
        page.put(Tone::Dim, "── ").put(Tone::Label, name).put(Tone::Dim, " ──").end();
        self.branch = branch.cloned();
        self.begun = true;
    }

    fn content(&mut self, page: &mut Page, content: &Content) {
        for Block { tone, text } in self.blocks(content) {
            page.block(tone, &text, INDENT, self.detail.most);
        }
    }
}

fn put_heading(page: &mut Page, record: &Record) {
    words::put(page, &heading(record, Some(page.look().zone)));
    page.end();
}

/// Returns the heading of a record: its number, its role, and its time if `zone` is given.
pub(crate) fn heading(record: &Record, zone: Option<Zone>) -> Line {
    let word = |tone, text: String| Word { tone, text };
    let mut line = vec![
        word(Tone::Dim, format!("{:>3}  ", record.index)),
        word(tone(record.role), record.role.as_str().to_owned()),
    ];
    if let Some(zone) = zone {
        line.push(word(Tone::Dim, format!("  {}", zone.time(record.ts))));
    }
    if record.partial {
        line.push(word(Tone::Warn, "  interrupted".to_owned()));
    }
    line
}

/// Returns the first 400 characters of `text`, for a table cell. A cell shows far less, so the rest
/// need not be processed.
pub(crate) fn start_of(text: &str) -> String {
    text.chars().take(400).collect()
}

fn tone(role: Role) -> Tone {
    match role {
        Role::System => Tone::Dim,
        Role::User => Tone::User,
        Role::Assistant => Tone::Assistant,
        Role::Tool => Tone::Tool,
    }
}
