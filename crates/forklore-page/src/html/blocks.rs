//! Writes the parts of messages as HTML.

use std::fmt::Write as _;

use forklore_core::describe::FileEdit;
use forklore_sanitize::html::text;

use super::markdown;
use crate::block::{Block, Call, Source, ToolOutput};

/// Writes the images of a page.
pub trait Images {
    /// Returns an image as HTML. `None` if the page does not show it.
    fn html(&mut self, source: &Source, description: &str) -> Option<String>;
}

/// A writer of the parts of messages as HTML. All text of the session is escaped.
pub struct Blocks<'i> {
    images: &'i mut dyn Images,
    most_lines: usize,
}

impl<'i> Blocks<'i> {
    /// Creates a writer that shows images with `images`.
    #[must_use]
    pub fn new(images: &'i mut dyn Images) -> Self {
        Self { images, most_lines: usize::MAX }
    }

    /// Limits the number of lines of each change of a file.
    #[must_use]
    pub fn with_most_lines(self, most_lines: usize) -> Self {
        Self { most_lines, ..self }
    }

    /// Returns a part of a message as HTML. The text of a model is Markdown; any other text is shown
    /// as it is.
    pub fn html(&mut self, block: &Block, is_model: bool) -> String {
        match block {
            Block::Text(written) if written.trim().is_empty() => String::new(),
            Block::Text(written) if is_model => {
                format!("<div class=\"text\">{}</div>\n", markdown::html(written))
            }
            Block::Text(written) => {
                format!("<div class=\"text plain\">{}</div>\n", text(written.trim_end()))
            }
            Block::Thinking(line, thinking) if thinking.is_empty() => {
                format!("<p class=\"note\">{}</p>\n", text(line))
            }
            Block::Thinking(line, thinking) => {
                let inside = markdown::html(thinking);
                folded("thinking", &text(line), &format!("<div class=\"text\">{inside}</div>"))
            }
            Block::Call(call) => self.call(call),
            Block::Result(output) => {
                let class = if output.failed { "result failed" } else { "result" };
                folded(class, &text(&output.line), &self.output(output))
            }
            Block::File(line, source) => self.file(line, source),
            Block::Other(json) => format!("<pre class=\"note\">{}</pre>\n", text(json)),
        }
    }

    fn call(&mut self, call: &Call) -> String {
        let failed = call.output.as_ref().is_some_and(|output| output.failed);
        let mut inside: String = call.edits.iter().map(|edit| self.diff(edit)).collect();
        if !call.arguments.is_empty() {
            let _ = writeln!(inside, "<pre>{}</pre>", text(&call.arguments));
        }
        let mut line = format!("<code>{}</code>", text(&call.line));
        if let Some(output) = &call.output {
            let _ = write!(line, " <span>{}</span>", text(&output.line));
            inside.push_str(&self.output(output));
        }
        folded(if failed { "call failed" } else { "call" }, &line, &inside)
    }

    fn output(&mut self, output: &ToolOutput) -> String {
        let mut inside = String::new();
        if !output.text.trim().is_empty() {
            let _ =
                writeln!(inside, "<pre class=\"output\">{}</pre>", text(output.text.trim_end()));
        }
        for image in &output.images {
            inside.push_str(&self.images.html(image, "").unwrap_or_default());
        }
        inside
    }

    fn file(&mut self, line: &str, source: &Source) -> String {
        let named = || format!("<p class=\"note\">{}</p>\n", text(line));
        self.images.html(source, line).unwrap_or_else(named)
    }

    fn diff(&self, edit: &FileEdit) -> String {
        let mut lines = format!("<pre class=\"diff\"><b>{}</b>\n", text(&edit.path));
        for (number, change) in edit.changes.iter().enumerate() {
            if number > 0 {
                lines.push_str("<i>...</i>\n");
            }
            for (mark, line) in change.marked().iter().take(self.most_lines) {
                let line = text(line);
                let _ = match mark {
                    '+' => writeln!(lines, "<ins>+{line}</ins>"),
                    '-' => writeln!(lines, "<del>-{line}</del>"),
                    _ => writeln!(lines, " {line}"),
                };
            }
            let left = change.marked().len().saturating_sub(self.most_lines);
            if left > 0 {
                let _ = writeln!(lines, "<i>... {left} more lines</i>");
            }
        }
        lines.push_str("</pre>\n");
        lines
    }
}

/// Returns a folded block, which shows `line`, and also `inside` after a reader has unfolded the
/// block. `line` and `inside` are HTML.
pub(super) fn folded(class: &str, line: &str, inside: &str) -> String {
    format!("<details class=\"{class}\">\n<summary>{line}</summary>\n{inside}\n</details>\n")
}
