//! Formats messages for users.

mod part;

use std::collections::HashMap;

use forklore::core::{Content, EventType, Label, Message, Role};
use forklore::engine::{Record, ReplayedSummary};

use super::{Page, Tone, time};

const INDENT: usize = 5;

/// Prints the records of a conversation. A separator line names the branch, if a record was written
/// in another branch than the record before it.
#[derive(Default)]
pub(crate) struct Transcript {
    branch: Option<Label>,
    begun: bool,
    calls: Calls,
}

/// The tools of the calls that have no result yet, by the ids of the calls. A result names only the
/// id of its call.
#[derive(Default)]
struct Calls(HashMap<String, String>);

impl Calls {
    fn open(&mut self, id: &str, tool: &str) {
        self.0.insert(id.to_owned(), tool.to_owned());
    }

    fn close(&mut self, id: &str) -> Option<String> {
        self.0.remove(id)
    }
}

impl Transcript {
    /// Creates a transcript without a separator line for `branch`, which a heading already names.
    pub(crate) fn in_branch(branch: Option<Label>) -> Self {
        Self { branch, begun: true, calls: Calls::default() }
    }

    /// Prints a record. Shows no more than `most` lines of each text in the record.
    pub(crate) fn record(&mut self, page: &mut Page, record: &Record, most: usize) {
        self.enter(page, record.branch.as_ref());
        page.put(Tone::Dim, format!("{:>3}  ", record.index))
            .put(tone(record.role), name(record.role));
        page.put(Tone::Dim, format!("  {}", time(record.ts)));
        if record.partial {
            page.put(Tone::Warn, "  interrupted");
        }
        page.end();
        self.content(page, &record.content, most);
    }

    /// Prints a summary, which stands between two records.
    pub(crate) fn summary(&mut self, page: &mut Page, summary: &ReplayedSummary) {
        self.enter(page, summary.branch.as_ref());
        let is_compaction = summary.kind == EventType::HISTORY_COMPACTION;
        let name = if is_compaction { "compaction" } else { "branch summary" };
        page.pad(INDENT);
        page.put(Tone::Warn, name).put(Tone::Dim, format!("  {}", time(summary.ts))).end();
        for message in &summary.messages {
            self.content(page, &message.content, usize::MAX);
        }
    }

    /// Prints a message in full, as the model receives it, with its number.
    pub(crate) fn message(&mut self, page: &mut Page, number: usize, message: &Message) {
        page.put(Tone::Dim, format!("{number:>3}  "));
        page.put(tone(message.role), name(message.role)).end();
        self.content(page, &message.content, usize::MAX);
    }

    /// Prints a line with the name of the branch that wrote what follows, at the beginning and where
    /// the branch changes.
    fn enter(&mut self, page: &mut Page, branch: Option<&Label>) {
        if self.begun && self.branch.as_ref() == branch {
            return;
        }
        let name = branch.map_or("a deleted branch", Label::as_str);
        page.put(Tone::Dim, "── ").put(Tone::Label, name).put(Tone::Dim, " ──").end();
        self.branch = branch.cloned();
        self.begun = true;
    }

    fn content(&mut self, page: &mut Page, content: &Content, most: usize) {
        match content {
            Content::Text(text) => page.block(Tone::Plain, text, INDENT, most),
            Content::Parts(parts) => {
                for (tone, text) in parts.iter().map(|part| part::text(part, &mut self.calls)) {
                    page.block(tone, &text, INDENT, most);
                }
            }
        }
    }
}

/// Returns the first 400 characters of `text`, for a table cell. A cell shows far less, so the rest
/// need not be processed.
pub(crate) fn start_of(text: &str) -> String {
    text.chars().take(400).collect()
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn tone(role: Role) -> Tone {
    match role {
        Role::System => Tone::Dim,
        Role::User => Tone::User,
        Role::Assistant => Tone::Assistant,
        Role::Tool => Tone::Tool,
    }
}
