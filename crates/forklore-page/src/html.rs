//! Writes a page of HTML: one file without scripts, which loads nothing from a server.

mod image;
mod markdown;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forklore_core::Role;
use forklore_core::describe::FileEdit;
use forklore_engine::Engine;
use forklore_sanitize::html::text;
use sha2::{Digest, Sha256};

use crate::conversation::{Block, Call, Item, Message, Source, ToolOutput};
use crate::{Facts, time};
use image::Images;

const STYLE: &str = include_str!("html/style.css");

/// The end of a page, after the last item.
pub(crate) const TAIL: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of a page, before the first item.
pub(crate) fn head(facts: &Facts) -> String {
    // Only this style sheet and images in the page itself are allowed: no script, no request.
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let title = text(&facts.title);
    let mut head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n\
         <h1>{title}</h1>\n<dl>\n"
    );
    for (name, value) in &facts.lines {
        let _ = writeln!(head, "<div><dt>{name}</dt><dd>{}</dd></div>", text(value));
    }
    head.push_str("</dl>\n</header>\n<main>\n");
    head
}

/// A writer of the items of an HTML page. It limits the total size of the images in the page.
pub(crate) struct Page<'e> {
    images: Images<'e>,
}

impl<'e> Page<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Self { images: Images::new(engine) }
    }

    /// Returns an item as HTML.
    pub(crate) fn item(&mut self, item: &Item) -> String {
        match item {
            Item::Branch(branch) => {
                let name = branch.as_ref().map_or("a deleted branch", |label| label.as_str());
                format!("<h2>{}</h2>\n", text(name))
            }
            Item::Message(message) => self.message(message),
            Item::Summary { is_compaction, ts, text } => summary(*is_compaction, &time(*ts), text),
        }
    }

    fn message(&mut self, message: &Message) -> String {
        let Message { index, role, ts, partial, blocks, .. } = message;
        let (role, is_model) = (role.as_str(), *role == Role::Assistant);
        let mark = if *partial { " <strong>interrupted</strong>" } else { "" };
        let mut html = format!(
            "<article class=\"{role}\" id=\"m{index}\">\n<h3><a href=\"#m{index}\">{index}</a> \
             {role} <time>{}</time>{mark}</h3>\n",
            time(*ts)
        );
        for block in blocks {
            html.push_str(&self.block(block, is_model));
        }
        html.push_str("</article>\n");
        html
    }

    fn block(&mut self, block: &Block, is_model: bool) -> String {
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
        let mut inside: String = call.edits.iter().map(diff).collect();
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
}

fn summary(is_compaction: bool, time: &str, summary: &str) -> String {
    let what = if is_compaction {
        "Compaction: the model continues with this instead of what is above"
    } else {
        "Summary of a branch"
    };
    let inside = format!("<div class=\"text\">{}</div>", markdown::html(summary));
    folded("summary", &format!("{what} <time>{time}</time>"), &inside)
}

/// Returns a folded block, which shows `line`, and also `inside` after a reader has unfolded the
/// block. `line` and `inside` are HTML.
fn folded(class: &str, line: &str, inside: &str) -> String {
    format!("<details class=\"{class}\">\n<summary>{line}</summary>\n{inside}\n</details>\n")
}

fn diff(edit: &FileEdit) -> String {
    let mut lines = format!("<pre class=\"diff\"><b>{}</b>\n", text(&edit.path));
    for (number, change) in edit.changes.iter().enumerate() {
        if number > 0 {
            lines.push_str("<i>...</i>\n");
        }
        for (mark, line) in change.marked() {
            let line = text(line);
            let _ = match mark {
                '+' => writeln!(lines, "<ins>+{line}</ins>"),
                '-' => writeln!(lines, "<del>-{line}</del>"),
                _ => writeln!(lines, " {line}"),
            };
        }
    }
    lines.push_str("</pre>\n");
    lines
}
