//! A page of output for users. The page escapes all text that is put on it (see
//! `forklore_sanitize::terminal`).

use std::fmt::Display;

use forklore_sanitize::terminal;
use jiff::Timestamp;

use super::style::Tone;
use super::zone::Zone;

/// The display options of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Whether text is colored.
    pub(crate) color: bool,
    /// The width of a line in columns.
    pub(crate) width: usize,
    /// Whether long lines are broken at words.
    pub(crate) wrap: bool,
    /// The current time, relative to which ages are shown.
    pub(crate) now: Timestamp,
    /// The time zone in which times are shown.
    pub(crate) zone: Zone,
}

/// A page of output for users: its text so far, and its display options.
pub(crate) struct Page {
    text: String,
    look: Look,
}

impl Page {
    pub(crate) fn new(look: Look) -> Self {
        Self { text: String::new(), look }
    }

    /// Returns the text of the page so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the display options of the page: colors, line width, wrapping and the current time.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Adds text to the current line. A line break in the text is shown as `\n`.
    pub(crate) fn put(&mut self, tone: Tone, text: impl Display) -> &mut Self {
        let text = text.to_string();
        self.painted(tone, &terminal::line(&text));
        self
    }

    /// Ends the current line.
    pub(crate) fn end(&mut self) -> &mut Self {
        // Remove trailing spaces: they only pad a column, and users would copy them.
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }

    /// Adds a line with a name and a value, unless the value is empty.
    pub(crate) fn fact(&mut self, name: &str, value: impl Display) -> &mut Self {
        let value = value.to_string();
        if !value.is_empty() {
            self.put(Tone::Dim, format!("{name:<11}")).put(Tone::Plain, value).end();
        }
        self
    }

    /// Adds text of several lines, each indented by `indent` columns. On a terminal, long lines are
    /// broken at words. Shows at most `most` lines, and then how many lines remain. If only one
    /// line would remain, shows this line instead.
    pub(crate) fn block(&mut self, tone: Tone, text: &str, indent: usize, most: usize) {
        let text = terminal::block(text.trim_end()).replace('\t', "    ");
        let lines = self.broken(&text, indent);
        let hidden = lines.len().saturating_sub(most);
        // A note about one omitted line would need a line too, so show the line instead.
        let shown = if hidden == 1 { lines.len() } else { lines.len() - hidden };
        for line in lines.iter().take(shown) {
            self.pad(indent);
            self.painted(tone, line);
            self.end();
        }
        if shown < lines.len() {
            self.pad(indent);
            self.put(Tone::Dim, format!("... {hidden} more lines")).end();
        }
    }

    /// Adds text to the current line and ends the line. On a terminal, long text is broken at
    /// words, and its further lines are indented by `indent` columns.
    pub(crate) fn rest_of_line(&mut self, tone: Tone, text: &str, indent: usize) {
        for (number, line) in self.broken(&terminal::line(text), indent).iter().enumerate() {
            if number > 0 {
                self.pad(indent);
            }
            self.painted(tone, line);
            self.end();
        }
    }

    fn broken(&self, text: &str, indent: usize) -> Vec<String> {
        if !self.look.wrap {
            return text.lines().map(str::to_owned).collect();
        }
        let columns = self.look.width.saturating_sub(indent).max(20);
        let options = textwrap::Options::new(columns)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
        text.lines()
            .flat_map(|line| textwrap::wrap(line, &options))
            .map(std::borrow::Cow::into_owned)
            .collect()
    }

    pub(super) fn pad(&mut self, columns: usize) {
        self.text.extend(std::iter::repeat_n(' ', columns));
    }

    /// Adds text that is already escaped.
    pub(super) fn painted(&mut self, tone: Tone, text: &str) {
        let style = tone.style();
        if self.look.color && !text.is_empty() && style != anstyle::Style::new() {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.text.push_str(text);
        }
    }
}
