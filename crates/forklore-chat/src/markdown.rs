//! Renders Markdown for a terminal while the text arrives.
//!
//! A word is written as soon as it is complete, and written text never changes. A Markdown mark
//! whose meaning depends on text that has not arrived yet is written unchanged. All text is
//! escaped. No maintained crate renders Markdown incrementally; the existing crates need the whole
//! text.

mod inline;

use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

use inline::Inline;

/// How a screen displays text.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Whether colors and styles are used. Without them, Markdown is shown as source text.
    pub color: bool,
    /// The width of a line in columns; lines are wrapped at words.
    pub width: usize,
}

/// A renderer of Markdown for a terminal. The text arrives in pieces.
#[derive(Debug)]
pub struct Markdown {
    look: Look,
    inline: Inline,
    block: Block,
    /// The word that has begun and is not complete yet. Inside a code block, the incomplete line.
    word: String,
    /// The number of spaces before `word`.
    spaces: usize,
    /// The number of columns that are written on the current line.
    column: usize,
    /// The column at which a wrapped line continues, from 0.
    indent: usize,
    /// Whether no word of the current line has been handled yet.
    at_start: bool,
    out: String,
}

/// The kind of the Markdown line that is being rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Text,
    Heading,
    /// A line between two code fences.
    Code,
    /// A line that opens or closes a code block.
    Fence,
}

impl Markdown {
    /// Creates a renderer of Markdown with the display options `look`.
    #[must_use]
    pub fn new(look: Look) -> Self {
        Self {
            look,
            inline: Inline::default(),
            block: Block::Text,
            word: String::new(),
            spaces: 0,
            column: 0,
            indent: 0,
            at_start: true,
            out: String::new(),
        }
    }

    /// Adds the next piece of Markdown. Returns the rendered text that can be written now.
    pub fn push(&mut self, piece: &str) -> String {
        for c in piece.chars() {
            match c {
                '\n' => self.end_line(),
                ' ' | '\t' if self.block == Block::Code => self.word.push(c),
                ' ' | '\t' => {
                    self.end_word();
                    self.spaces += if c == '\t' { 4 } else { 1 };
                }
                '\r' => {}
                _ => self.word.push(c),
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the Markdown. Returns the remaining rendered text, which ends with a newline if a line
    /// has begun.
    pub fn finish(&mut self) -> String {
        if !self.at_start || !self.word.is_empty() {
            self.end_line();
        }
        std::mem::take(&mut self.out)
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let spaces = std::mem::take(&mut self.spaces);
        if self.at_start {
            self.begin_line(&word, spaces);
        } else {
            self.put_word(&word, spaces);
        }
    }

    fn end_line(&mut self) {
        if self.block == Block::Code && !self.word.is_empty() {
            let line = std::mem::take(&mut self.word);
            self.code_line(&line);
        } else {
            self.end_word();
        }
        if self.look.color {
            if self.at_start || self.block == Block::Heading {
                // An empty line or a heading ends the paragraph, and with it every style that is
                // still switched on.
                self.inline.end_paragraph();
            }
            self.out.push_str(self.inline.pause());
        }
        self.block = match self.block {
            Block::Code => Block::Code,
            Block::Fence => self.after_fence(),
            Block::Text | Block::Heading => Block::Text,
        };
        self.out.push('\n');
        (self.at_start, self.column, self.spaces, self.indent) = (true, 0, 0, 0);
    }

    fn after_fence(&mut self) -> Block {
        if std::mem::take(&mut self.inline.opens_code) { Block::Code } else { Block::Text }
    }

    /// Handles the first word of a line. The word determines the kind of the line: a fence, a
    /// heading, a list item, a quote, a rule or text.
    fn begin_line(&mut self, word: &str, spaces: usize) {
        self.at_start = false;
        self.pad(spaces.min(self.look.width / 2));
        if !self.look.color {
            self.indent = self.column;
            return self.put_word(word, 0);
        }
        if word.starts_with("```") || word.starts_with("~~~") {
            (self.block, self.inline.opens_code) = (Block::Fence, true);
            return self.put_styled(word, inline::DIM);
        }
        let hashes = word.len() <= 6 && word.chars().all(|c| c == '#');
        if hashes {
            self.block = Block::Heading;
            self.inline.heading();
            return;
        }
        match word {
            "-" | "*" | "+" => self.put_styled("•", inline::ACCENT),
            ">" => self.put_styled("│", inline::DIM),
            _ if is_number(word) => self.put_styled(word, inline::ACCENT),
            _ if is_rule(word) => {
                let width = self.look.width.min(40);
                self.put_styled(&"─".repeat(width), inline::DIM);
            }
            _ => {
                self.indent = self.column;
                return self.put_word(word, 0);
            }
        }
        self.indent = self.column + 1;
    }

    fn put_word(&mut self, word: &str, spaces: usize) {
        if self.block == Block::Fence {
            self.pad(spaces);
            return self.put_styled(word, inline::DIM);
        }
        if !self.look.color {
            let word = terminal::line(word).into_owned();
            self.wrap_before(word.width(), spaces);
            self.column += word.width();
            self.out.push_str(&word);
            return;
        }
        let (text, width) = self.inline.word(word);
        self.wrap_before(width, spaces);
        self.out.push_str(&text);
        self.column += width;
    }

    /// Writes the spaces before a word. If the word does not fit on the line, breaks the line
    /// instead.
    fn wrap_before(&mut self, width: usize, spaces: usize) {
        if self.column + spaces + width <= self.look.width || self.column <= self.indent {
            let spaces = if self.column == 0 { 0 } else { spaces };
            return self.pad(spaces);
        }
        self.out.push('\n');
        self.column = 0;
        self.pad(self.indent);
    }

    fn pad(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
        self.column += columns;
    }

    fn code_line(&mut self, line: &str) {
        self.at_start = false;
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            self.block = Block::Fence;
            return self.put_styled(trimmed, inline::DIM);
        }
        self.put_styled(&line.replace('\t', "    "), inline::CODE);
    }

    fn put_styled(&mut self, text: &str, style: anstyle::Style) {
        let text = terminal::line(text);
        self.column += text.width();
        self.out.push_str(&format!("{style}{text}{style:#}"));
    }
}

/// Checks whether a word is the number of a list item, such as `1.` or `12)`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['.', ')']);
    digits.len() + 1 == word.len()
        && digits.len() <= 3
        && digits.chars().all(|c| c.is_ascii_digit())
        && !digits.is_empty()
}

/// Checks whether a word is a horizontal rule, such as `---`.
fn is_rule(word: &str) -> bool {
    word.len() >= 3 && ['-', '*', '_'].iter().any(|mark| word.chars().all(|c| c == *mark))
}

#[cfg(test)]
mod tests;
