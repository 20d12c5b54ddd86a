//! What is shown: every text that comes from a session is escaped here.

mod told;

use std::io::Write;

use anstyle::{AnsiColor, Style};
use forklore_guard::terminal;

use crate::markdown::{Look, Markdown};

/// What a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// What is said.
    #[default]
    Plain,
    /// What explains and may be overlooked.
    Dim,
    /// What is to be typed.
    Strong,
    /// A branch.
    Label,
    /// A call of a tool.
    Tool,
    /// What went well.
    Good,
    /// What should be seen.
    Warn,
    /// What went wrong.
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

/// Where the conversation is shown.
pub struct Screen {
    out: Box<dyn Write>,
    look: Look,
    answer: Option<Markdown>,
    /// Whether the line that was written last is not ended.
    open: bool,
}

impl Screen {
    /// A screen that writes to `out`.
    #[must_use]
    pub fn new(out: Box<dyn Write>, look: Look) -> Self {
        Self { out, look, answer: None, open: false }
    }

    /// The columns of a line.
    #[must_use]
    pub fn width(&self) -> usize {
        self.look.width
    }

    /// A line of one tone.
    pub fn line(&mut self, tone: Tone, text: &str) {
        self.words(&[(tone, text)]);
    }

    /// A line of several.
    pub fn words(&mut self, words: &[(Tone, &str)]) {
        self.end_answer();
        let mut line = String::new();
        for (tone, text) in words {
            line.push_str(&self.painted(*tone, &terminal::line(text)));
        }
        line.push('\n');
        self.write(&line);
    }

    /// A text of several lines, each behind a margin.
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

    /// More of an answer, in Markdown.
    pub fn answer(&mut self, piece: &str) {
        if self.answer.is_none() && self.open {
            self.end_answer();
        }
        let look = self.look;
        let text = self.answer.get_or_insert_with(|| Markdown::new(look)).push(piece);
        self.write(&text);
    }

    /// More of what a model thinks aloud.
    pub fn thought(&mut self, piece: &str) {
        if self.answer.is_some() {
            self.end_answer();
        }
        let text = self.painted(Tone::Dim, &terminal::block(piece));
        self.write(&text);
        self.open = !piece.ends_with('\n');
    }

    /// Ends the line of an answer or a thought, if one was begun.
    pub fn end_answer(&mut self) {
        let rest = match self.answer.take() {
            Some(mut answer) => answer.finish(),
            None if self.open => "\n".to_owned(),
            None => return,
        };
        self.open = false;
        self.write(&rest);
    }

    /// Leaves a line that somebody was typing, and ends the marking of pasted text, which the line
    /// editor began with it.
    pub(crate) fn leave_line(&mut self) {
        self.write("\x1b[?2004l\r\n");
    }

    /// A text in its tone; the text is escaped already.
    fn painted(&self, tone: Tone, text: &str) -> String {
        let style = tone.style();
        if !self.look.color || text.is_empty() || style == Style::new() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    fn write(&mut self, text: &str) {
        // Whoever closed the terminal sees nothing more; the conversation ends at its next line.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}
