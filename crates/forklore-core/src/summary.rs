//! Builds `deterministic_operational_summary_v2`, a summary of a history without a model
//! (docs/semantics.md, Summary at the fork).

mod prose;

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::call::{OpenCall, OpenCalls};
use crate::event::Event;
use crate::message::{Message, Part};

pub use prose::prose;

/// The name of the summary strategy that needs no model and always gives the same summary of the
/// same history.
pub const STRATEGY: &str = "deterministic_operational_summary_v2";

const LAST_CALLS: usize = 50;
const FIRST_FILES: usize = 30;
const LAST_FACTS: usize = 6;
const FACT_BYTES: usize = 480;
const FILE_KEYS: [&str; 6] = ["path", "file", "file_path", "filename", "paths", "files"];

/// The summary of a session's history, made without a model. Every `index` in it is a position
/// among the conversation events of the history, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The number of events of each type, by type name.
    pub counts: BTreeMap<String, u64>,
    /// The number of calls of each tool, by tool name.
    pub tools: BTreeMap<String, u64>,
    /// The last 50 tool calls, oldest first.
    pub last_calls: VecDeque<Call>,
    /// The names of the first 30 files mentioned, without repetition.
    pub files: Vec<String>,
    /// The tool calls without a result.
    pub open_calls: Vec<OpenCall>,
    /// The unfinished items of the last tool call whose tool name contains `plan` or `todo`.
    pub open_tasks: Vec<String>,
    /// The beginnings of the last 6 messages that contain text, oldest first.
    pub facts: VecDeque<Fact>,
    /// Sentences that state the limits of this kind of summary.
    pub limitations: Vec<String>,
}

/// A tool call in a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The conversation index of the event with the call.
    pub index: u64,
    /// The tool's name.
    pub name: String,
}

/// An excerpt in a summary: the beginning of the text of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The conversation index of the message.
    pub index: u64,
    /// The role of the message: `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The beginning of the text, at most 480 bytes. White space is collapsed, and the text ends
    /// between two graphemes.
    pub text: String,
}

/// Builds a [`Summary`] from the events of a history, one event at a time.
#[derive(Debug, Default)]
pub struct Summarizer {
    counts: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    last_calls: VecDeque<Call>,
    files: Vec<String>,
    open: OpenCalls,
    open_tasks: Vec<String>,
    facts: VecDeque<Fact>,
}

impl Summarizer {
    /// Adds the next event to the summary. For a conversation event, `index` is its index among the
    /// conversation events, and `message` is the event converted to a message. For any other event,
    /// both are `None`, and the summary only counts the event by its type.
    pub fn add(&mut self, event: &Event, index: Option<u64>, message: Option<&Message>) {
        *self.counts.entry(event.kind.as_str().to_owned()).or_default() += 1;
        self.open.step(&event.effect);
        let (Some(index), Some(message)) = (index, message) else { return };
        let parts = message.to_parts();
        for part in &parts {
            match part {
                Part::ToolCall { name, arguments, .. } => {
                    self.call(index, name, arguments.read().unwrap_or(Value::Null));
                }
                Part::Text { text } => self.files_in_words(text),
                _ => {}
            }
        }
        self.fact(index, message);
    }

    /// Returns the summary of all events that were added.
    #[must_use]
    pub fn finish(self) -> Summary {
        Summary {
            counts: self.counts,
            tools: self.tools,
            last_calls: self.last_calls,
            files: self.files,
            open_calls: self.open.calls().cloned().collect(),
            open_tasks: self.open_tasks,
            facts: self.facts,
            limitations: vec![
                "made without a model: excerpts and counts, no understanding".to_owned(),
                format!(
                    "the last {LAST_CALLS} calls, the first {FIRST_FILES} files, the last {LAST_FACTS} facts"
                ),
            ],
        }
    }

    fn call(&mut self, index: u64, name: &str, arguments: Value) {
        *self.tools.entry(name.to_owned()).or_default() += 1;
        push_last(&mut self.last_calls, Call { index, name: name.to_owned() }, LAST_CALLS);
        let lower = name.to_lowercase();
        if lower.contains("todo") || lower.contains("plan") {
            self.open_tasks = unfinished(&arguments);
        }
        self.files_in_arguments(arguments);
    }

    fn files_in_arguments(&mut self, arguments: Value) {
        // Use a queue instead of recursion, because a model may nest arguments to any depth.
        let mut queue = VecDeque::from([(false, arguments)]);
        while let Some((named, value)) = queue.pop_front() {
            match value {
                Value::Object(fields) => queue.extend(
                    fields.into_iter().map(|(key, v)| (FILE_KEYS.contains(&key.as_str()), v)),
                ),
                Value::Array(items) => queue.extend(items.into_iter().map(|item| (named, item))),
                Value::String(text) if named => self.file(&text),
                Value::String(text) => self.files_in_words(&text),
                _ => {}
            }
        }
    }

    fn files_in_words(&mut self, text: &str) {
        if self.files.len() >= FIRST_FILES {
            return;
        }
        let edge = |c: char| !(c.is_alphanumeric() || "/._-~".contains(c));
        for word in text.split_whitespace().map(|word| word.trim_matches(edge)) {
            if word.contains('/') && word.chars().any(char::is_alphanumeric) {
                self.file(word.trim_end_matches('.'));
            }
        }
    }

    fn file(&mut self, name: &str) {
        let name = excerpt(name);
        if self.files.len() < FIRST_FILES && !name.is_empty() && !self.files.contains(&name) {
            self.files.push(name);
        }
    }

    fn fact(&mut self, index: u64, message: &Message) {
        let text = excerpt(&message.plain_text());
        if !text.is_empty() {
            let role = message.role.as_str();
            push_last(&mut self.facts, Fact { index, role, text }, LAST_FACTS);
        }
    }
}

fn push_last<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Returns the longest beginning of `text` that ends between two graphemes and whose length in
/// bytes does not exceed `bytes`.
#[must_use]
pub fn beginning(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let ends = text.grapheme_indices(true).map(|(at, grapheme)| at + grapheme.len());
    let end = ends.take_while(|end| *end <= bytes).last().unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Collapses the white space in `text` and truncates the result to at most 480 bytes, between two
/// graphemes.
fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!out.is_empty());
        if out.len() + gap + word.len() <= FACT_BYTES {
            if gap == 1 {
                out.push(' ');
            }
            out.push_str(word);
            continue;
        }
        if out.len() + gap < FACT_BYTES && gap == 1 {
            out.push(' ');
        }
        for grapheme in word.graphemes(true) {
            if out.len() + grapheme.len() > FACT_BYTES {
                break;
            }
            out.push_str(grapheme);
        }
        break;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns excerpts of the unfinished items in `arguments`, the arguments of a tool call that
/// writes a plan or todo list. Items without a text are left out.
fn unfinished(arguments: &Value) -> Vec<String> {
    let lists = ["todos", "plan", "items", "tasks", "steps"];
    let items = lists.iter().find_map(|key| arguments.get(key)?.as_array());
    let text = |item: &Value| {
        ["content", "text", "step", "title", "task"]
            .iter()
            .find_map(|key| item.get(key)?.as_str().map(excerpt))
    };
    items.into_iter().flatten().filter(|item| !is_done(item)).filter_map(text).collect()
}

/// Checks whether an item of a plan or todo list is finished or cancelled.
pub(crate) fn is_done(item: &Value) -> bool {
    let word = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_lowercase);
    let status = word("status").or_else(|| word("state"));
    matches!(status.as_deref(), Some("completed" | "done" | "cancelled" | "finished"))
        || item.get("done") == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_end_between_graphemes() {
        let family = "👨‍👩‍👧‍👦".repeat(40);
        let cut = excerpt(&family);
        assert!(cut.len() <= FACT_BYTES && cut.len() > FACT_BYTES - "👨‍👩‍👧‍👦".len());
        assert_eq!(cut.graphemes(true).count() * "👨‍👩‍👧‍👦".len(), cut.len());
        assert_eq!(excerpt("  a \n\t b  "), "a b");
    }

    #[test]
    fn beginnings_end_between_graphemes() {
        assert_eq!(beginning("ab👨‍👩‍👧c", 5), "ab");
        assert_eq!((beginning("abc", 3), beginning("abc", 2)), ("abc", "ab"));
    }

    #[test]
    fn unfinished_items_of_a_plan() {
        let todo = serde_json::json!({"todos": [
            {"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]});
        assert_eq!(unfinished(&todo), vec!["two".to_owned()]);
    }
}
