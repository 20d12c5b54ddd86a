//! Renders emphasis and code within a line, word by word. Each mark, such as `**`, switches a style
//! on or off.

use anstyle::{AnsiColor, Style};
use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const ACCENT: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
pub(super) const CODE: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

/// The set of styles that are switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct On {
    heading: bool,
    bold: bool,
    italic: bool,
    code: bool,
}

/// The inline styles of a paragraph while it is rendered.
#[derive(Debug, Default)]
pub(super) struct Inline {
    on: On,
    /// The styles that the escape sequences written so far have switched on in the terminal.
    written: On,
    /// Whether the current fence line opens a code block instead of closing one.
    pub(super) opens_code: bool,
}

impl On {
    fn style(self) -> Style {
        let mut style = if self.code { CODE } else { Style::new() };
        if self.bold || self.heading {
            style = style.bold();
        }
        if self.heading {
            style = style.underline();
        }
        if self.italic { style.italic() } else { style }
    }

    fn from(self, before: Self) -> String {
        if self == before {
            return String::new();
        }
        let (reset, style) = (anstyle::Reset, self.style());
        if before == Self::default() { format!("{style}") } else { format!("{reset}{style}") }
    }
}

impl Inline {
    /// Switches on the style of a heading.
    pub(super) fn heading(&mut self) {
        self.on.heading = true;
    }

    /// Switches off every style that is still on.
    pub(super) fn end_paragraph(&mut self) {
        self.on = On::default();
    }

    /// Returns the escape sequence that resets the terminal's styles at the end of a line. Returns
    /// an empty string if the terminal shows no style.
    pub(super) fn pause(&mut self) -> &'static str {
        let written = std::mem::take(&mut self.written);
        if written == On::default() { "" } else { "\u{1b}[0m" }
    }

    /// Renders a word of Markdown: replaces its style marks, such as `**`, by escape sequences.
    /// Returns the rendered text and its width in columns.
    pub(super) fn word(&mut self, word: &str) -> (String, usize) {
        let mut out = String::new();
        let mut run = String::new();
        let mut width = 0;
        let mut rest = word;
        while let Some(c) = rest.chars().next() {
            let before = rest.len() == word.len();
            let (mark, len) = self.mark(rest, before, &run);
            if mark {
                width += self.flush(&mut run, &mut out);
                self.switch(rest.get(..len).unwrap_or_default());
                rest = rest.get(len..).unwrap_or_default();
                continue;
            }
            if c == '\\'
                && !self.on.code
                && let Some(next) = rest.chars().nth(1).filter(char::is_ascii_punctuation)
            {
                run.push(next);
                rest = rest.get(1 + next.len_utf8()..).unwrap_or_default();
                continue;
            }
            run.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
        width += self.flush(&mut run, &mut out);
        (out, width)
    }

    fn flush(&mut self, run: &mut String, out: &mut String) -> usize {
        if run.is_empty() {
            return 0;
        }
        out.push_str(&self.on.from(self.written));
        self.written = self.on;
        let text = terminal::line(run).into_owned();
        out.push_str(&text);
        run.clear();
        text.width()
    }

    /// Checks whether `rest` begins with a Markdown mark that switches a style. The second returned
    /// value is the length of the mark in bytes. `rest` is the unread part of a word, and `first`
    /// says whether `rest` is the whole word. `run` is the text between the previous mark and
    /// `rest`.
    fn mark(&self, rest: &str, first: bool, run: &str) -> (bool, usize) {
        if rest.starts_with('`') {
            return (true, 1);
        }
        if self.on.code {
            return (false, 0);
        }
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        for (mark, open) in [
            ("**", self.on.bold),
            ("__", self.on.bold),
            ("*", self.on.italic),
            ("_", self.on.italic),
        ] {
            let Some(behind) = rest.strip_prefix(mark) else { continue };
            let opens = !open
                && (first || edge(run.chars().last()))
                && behind.starts_with(|c: char| !c.is_whitespace());
            let closes = open && edge(behind.chars().next());
            return (opens || closes, mark.len());
        }
        (false, 0)
    }

    fn switch(&mut self, mark: &str) {
        match mark {
            "`" => self.on.code = !self.on.code,
            "**" | "__" => self.on.bold = !self.on.bold,
            _ => self.on.italic = !self.on.italic,
        }
    }
}
