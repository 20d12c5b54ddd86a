//! Writes a page of Markdown. Each text of the session is written as a quotation, so it cannot look
//! like a part of the page itself. HTML in a text is escaped.

mod inert;

use std::fmt::Write as _;

use forklore_core::describe::FileEdit;
use forklore_sanitize::{html, terminal};

use crate::block::{Block, Call, ToolOutput};
use crate::conversation::{Item, Message};
use crate::{Facts, time};

/// Returns the beginning of a page, before the first item.
pub(crate) fn head(facts: &Facts) -> String {
    let facts_line = facts.lines.iter().map(|(name, value)| format!("{name} {}", inline(value)));
    let facts_line = facts_line.collect::<Vec<_>>().join(" · ");
    format!("# {}\n\n{facts_line}\n", inline(&facts.title))
}

/// A writer of the items of a Markdown page.
#[derive(Default)]
pub(crate) struct Page {}

impl Page {
    /// Returns an item as Markdown.
    pub(crate) fn item(&mut self, item: &Item) -> String {
        match item {
            Item::Branch(branch) => {
                let name = branch.as_ref().map_or("a deleted branch", |label| label.as_str());
                format!("\n## {}\n", inline(name))
            }
            Item::Message(written) => message(written),
            Item::Summary { is_compaction, ts, text } => {
                let what = if *is_compaction {
                    "Compaction: the model continues with this instead of what is above"
                } else {
                    "Summary of a branch"
                };
                format!("\n**{what}** · {}\n\n{}", time(*ts), quoted(text))
            }
        }
    }
}

fn message(message: &Message) -> String {
    let Message { index, role, ts, partial, blocks, .. } = message;
    let role = role.as_str();
    let mark = if *partial { " · interrupted" } else { "" };
    let mut out = format!("\n### {index} · {role} · {}{mark}\n", time(*ts));
    for block in blocks {
        match block {
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(text) => out.push_str(&format!("\n{}", quoted(text))),
            Block::Thinking(line, text) if text.is_empty() => {
                let _ = writeln!(out, "\n{}", inline(line));
            }
            Block::Thinking(line, text) => out.push_str(&folded(line, &fenced("", text))),
            Block::Call(of) => out.push_str(&call(of)),
            Block::Result(output) => out.push_str(&folded(&output.line, &result(output))),
            Block::File(line, _) => {
                let _ = writeln!(out, "\n{}", inline(line));
            }
            Block::Other(json) => out.push_str(&fenced("json", json)),
        }
    }
    out
}

fn call(call: &Call) -> String {
    let mut inside: String = call.edits.iter().map(diff).collect();
    if !call.arguments.is_empty() {
        inside.push_str(&fenced("json", &call.arguments));
    }
    let mut line = call.line.clone();
    if let Some(output) = &call.output {
        let _ = write!(line, " {}", output.line);
        inside.push_str(&result(output));
    }
    folded(&line, &inside)
}

fn result(output: &ToolOutput) -> String {
    if output.text.trim().is_empty() { String::new() } else { fenced("", &output.text) }
}

fn diff(edit: &FileEdit) -> String {
    let mut lines = format!("--- {}\n", edit.path);
    for (number, change) in edit.changes.iter().enumerate() {
        if number > 0 {
            lines.push_str("...\n");
        }
        for (mark, line) in change.marked() {
            let _ = writeln!(lines, "{mark}{line}");
        }
    }
    fenced("diff", &lines)
}

/// Returns a folded block, which shows `line`, and also `inside` after a reader has unfolded the
/// block.
fn folded(line: &str, inside: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\n<details><summary>{}</summary>\n{inside}\n</details>\n", html::text(&line))
}

/// Returns `text` as a code block. The fence around it is longer than any fence in the text.
fn fenced(language: &str, text: &str) -> String {
    let text = terminal::block(text.trim_end());
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}{language}\n{text}\n{fence}\n")
}

/// Returns `text`, a Markdown text of the session, as a quotation.
fn quoted(text: &str) -> String {
    let text = inert::inert(&terminal::block(text.trim_end()));
    let line = |line: &str| if line.is_empty() { ">\n".into() } else { format!("> {line}\n") };
    text.lines().map(line).collect()
}

/// Returns a text in one line, escaped so that a renderer finds no Markdown in it.
fn inline(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    escaped(&line)
}

/// Escapes HTML and the characters that have a meaning in Markdown.
fn escaped(line: &str) -> String {
    let mut out = String::new();
    for c in html::text(line).replace("&#39;", "'").replace("&quot;", "\"").chars() {
        if "\\`*_[]!#|~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
