//! The screen of a conversation. The screen escapes all text that comes from a session.

mod notifications;
mod speakers;
mod waiting;

use std::io::Write;

use anstyle::{AnsiColor, Style};
use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

use crate::markdown::{Look, Markdown};
use speakers::Speakers;
use waiting::Waiting;

/// The escape sequence that moves the cursor to the start of the line and clears the line.
const CLEAR: &str = "\r\u{1b}[K";

/// The meaning of a piece of text. It determines the color of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Text that the user or the model wrote.
    #[default]
    Plain,
    /// An explanation that the user can skip.
    Dim,
    /// Text that the user can type, such as a command.
    Strong,
    /// The label of a branch.
    Label,
    /// A tool call.
    Tool,
    /// The report of a success.
    Good,
    /// A warning.
    Warn,
    /// An error.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(anstyle::Color::Ansi(color)));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Label => color(AnsiColor::Green).bold(),
            Self::Tool => color(AnsiColor::Magenta),
            Self::Good => color(AnsiColor::Green),
            Self::Warn => color(AnsiColor::Yellow),
            Self::Bad => color(AnsiColor::Red).bold(),
        }
    }
}

/// The screen of a conversation: writes lines, answers, and a progress line.
pub struct Screen {
    out: Box<dyn Write>,
    look: Look,
    answer: Option<Markdown>,
    /// Whether the last text on the screen is the model's reasoning without a newline at its end.
    open: bool,
    /// The function that returns the current width of the terminal, in columns. `None` if the
    /// output is not a terminal.
    measure: Option<Box<dyn Fn() -> usize>>,
    waiting: Option<Waiting>,
    speakers: Speakers,
}

impl Screen {
    /// Creates a screen that writes to `out`. `look` determines the colors and the line width. The
    /// screen shows no progress line.
    #[must_use]
    pub fn new(out: Box<dyn Write>, look: Look) -> Self {
        let speakers = Speakers::default();
        Self { out, look, answer: None, open: false, measure: None, waiting: None, speakers }
    }

    /// Marks the output as a terminal, so that long operations show a progress line. `measure`
    /// returns the current width of the terminal in columns.
    #[must_use]
    pub fn on_terminal(mut self, measure: impl Fn() -> usize + 'static) -> Self {
        self.measure = Some(Box::new(measure));
        self
    }

    /// Returns how many columns a line may have: the terminal's current width, or the width of its
    /// [`Look`] if the output is not a terminal.
    #[must_use]
    pub fn width(&self) -> usize {
        self.measure.as_ref().map_or(self.look.width, |measure| measure())
    }

    /// Checks whether the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.measure.is_some()
    }

    /// Starts to show the progress of the operation `what`.
    pub(crate) fn wait(&mut self, what: &str) {
        self.waiting = Some(Waiting::of(what));
    }

    /// Shows in the progress line that `part` of the operation runs now. `None` shows the whole
    /// operation again.
    pub(crate) fn wait_part(&mut self, part: Option<&str>) {
        if let Some(waiting) = &mut self.waiting {
            waiting.part(part);
        }
    }

    /// Redraws the progress line, unless the model's answer or reasoning is being written.
    pub(crate) fn tick(&mut self) {
        if self.measure.is_none() || self.answer.is_some() || self.open {
            return;
        }
        let width = self.width().saturating_sub(1);
        let Some(line) = self.waiting.as_mut().and_then(Waiting::line) else { return };
        let line = self.painted(Tone::Dim, &terminal::cell(&line, width));
        self.put(&format!("{CLEAR}{line}"));
    }

    /// Ends the progress of the operation, and removes the progress line.
    pub(crate) fn waited(&mut self) {
        self.clear();
        self.waiting = None;
    }

    /// Removes the progress line.
    fn clear(&mut self) {
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.drawn) {
            waiting.drawn = false;
            self.put(CLEAR);
        }
    }

    /// Writes one line of text in one tone. On a terminal, a long line is broken at words.
    pub fn line(&mut self, tone: Tone, text: &str) {
        self.words(&[(tone, text)]);
    }

    /// Writes one line whose parts have different tones. On a terminal, a long line is broken at
    /// words.
    pub fn words(&mut self, words: &[(Tone, &str)]) {
        self.end_answer();
        let mut line = String::new();
        let mut column = 0;
        for (tone, text) in words {
            let text = self.broken(&terminal::line(text), &mut column);
            let pieces: Vec<_> = text.lines().map(|text| self.painted(*tone, text)).collect();
            line.push_str(&pieces.join("\n"));
        }
        line.push('\n');
        self.write(&line);
    }

    /// Breaks `text` before each word that does not fit on the line. The text starts at `column`,
    /// which is updated to the column after the text.
    fn broken(&self, text: &str, column: &mut usize) -> String {
        let width = if self.measure.is_some() { self.width() } else { usize::MAX };
        let mut out = String::new();
        for word in text.split_inclusive(' ') {
            let columns = word.trim_end().width();
            if *column > 0 && *column + columns > width {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                *column = 0;
            }
            out.push_str(word);
            *column += word.width();
        }
        out
    }

    /// Writes text of several lines. Each line begins with `margin`.
    pub fn block(&mut self, tone: Tone, text: &str, margin: &str) {
        self.end_answer();
        let mut lines = String::new();
        for line in terminal::block(text.trim_end()).lines() {
            lines.push_str(margin);
            lines.push_str(&self.painted(tone, &line.replace('\t', "    ")));
            lines.push('\n');
        }
        self.write(&lines);
    }

    /// Wraps `text`, and writes its first `most` lines, each with `margin` at its beginning. Then
    /// writes how many lines are omitted. If only one line would be omitted, writes all lines
    /// instead.
    pub fn excerpt(&mut self, tone: Tone, text: &str, margin: &str, most: usize) {
        let text = terminal::block(text.trim()).replace('\t', "    ");
        let width = self.width().saturating_sub(margin.len()).max(20);
        let lines = textwrap::wrap(&text, width);
        // A note about one omitted line would need a line too, so show the line instead.
        let shown = if lines.len() <= most.saturating_add(1) { lines.len() } else { most };
        let begin: Vec<&str> = lines.iter().take(shown).map(AsRef::as_ref).collect();
        self.block(tone, &begin.join("\n"), margin);
        if shown < lines.len() {
            self.line(Tone::Dim, &format!("{margin}... {} more lines", lines.len() - shown));
        }
    }

    /// Writes the next piece of an answer in Markdown.
    pub fn answer(&mut self, piece: &str) {
        if self.answer.is_none() && self.open {
            self.end_answer();
        }
        let look = Look { width: self.width(), ..self.look };
        let text = self.answer.get_or_insert_with(|| Markdown::new(look)).push(piece);
        self.write(&text);
    }

    /// Writes the last `most` lines of an answer in Markdown, below a note about the lines before
    /// them. If only one line would be omitted, writes all lines instead.
    pub(crate) fn answer_end(&mut self, answer: &str, most: usize) {
        let mut markdown = Markdown::new(Look { width: self.width(), ..self.look });
        let text = markdown.push(answer.trim()) + &markdown.finish();
        let lines: Vec<&str> = text.lines().collect();
        let omitted = if lines.len() <= most + 1 { 0 } else { lines.len() - most };
        if omitted > 0 {
            self.line(Tone::Dim, &format!("... {omitted} lines before; /replay shows them"));
        }
        for line in lines.iter().skip(omitted) {
            self.write(&format!("{line}\n"));
        }
    }

    /// Writes the next piece of the model's reasoning.
    pub fn thought(&mut self, piece: &str) {
        if self.answer.is_some() {
            self.end_answer();
        }
        let text = self.painted(Tone::Dim, &terminal::block(piece));
        self.write(&text);
        self.open = !piece.ends_with('\n');
    }

    /// Ends the line of an answer or of reasoning, if one was begun.
    pub fn end_answer(&mut self) {
        let rest = match self.answer.take() {
            Some(mut answer) => answer.finish(),
            None if self.open => "\n".to_owned(),
            None => return,
        };
        self.open = false;
        self.write(&rest);
    }

    /// Moves the cursor below the line that the user was typing, and switches off bracketed paste,
    /// which the line editor switched on.
    pub(crate) fn leave_line(&mut self) {
        self.write("\x1b[?2004l\r\n");
    }

    /// Colors text that is already escaped.
    fn painted(&self, tone: Tone, text: &str) -> String {
        let style = tone.style();
        if !self.look.color || text.is_empty() || style == Style::new() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    fn write(&mut self, text: &str) {
        self.clear();
        self.put(text);
    }

    fn put(&mut self, text: &str) {
        // Writing fails if the terminal is closed. The conversation then ends when it reads its
        // next line.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests;
