//! Buffers input that the user types before the program shows the next prompt.
//!
//! Usually the line editor reads this input as part of the next line. If the program asks a
//! question first, it must not read this input as the answer, so the input is buffered here, as
//! lines.

use std::collections::VecDeque;

const ESCAPE: char = '\u{1b}';
const PASTE: &str = "[200~";
const PASTED: &str = "\u{1b}[201~";

/// Text that the user typed while no prompt was shown: the complete lines, and the unfinished last
/// line.
#[derive(Debug, Default)]
pub(super) struct Typeahead {
    lines: VecDeque<String>,
    begun: String,
}

impl Typeahead {
    /// Adds input as a terminal sends it, with control characters and escape sequences. Ignores
    /// keys that move the cursor.
    pub(super) fn add(&mut self, typed: &[u8]) {
        let typed = String::from_utf8_lossy(typed);
        let mut rest = &*typed;
        while let Some(key) = rest.chars().next() {
            rest = rest.get(key.len_utf8()..).unwrap_or_default();
            match key {
                '\r' | '\n' => self.enter(),
                '\u{8}' | '\u{7f}' => {
                    self.begun.pop();
                }
                // Ctrl-U
                '\u{15}' => self.begun.clear(),
                ESCAPE => rest = self.escape(rest),
                key if key.is_control() => {}
                key => self.begun.push(key),
            }
        }
    }

    /// Removes and returns the next complete line, or returns `None` if there is none.
    pub(super) fn line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Joins all complete lines and the unfinished line into one unfinished text of several lines.
    pub(super) fn put_back(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        let lines: Vec<String> = self.lines.drain(..).chain([begun]).collect();
        self.begun = lines.join("\n");
    }

    /// Adds text to the unfinished text, without control characters other than line feeds and tabs.
    pub(super) fn begin(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.begun.extend(text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)));
    }

    /// Removes and returns the unfinished text after the last complete line.
    pub(super) fn begun(&mut self) -> String {
        std::mem::take(&mut self.begun)
    }

    fn enter(&mut self) {
        if super::is_whole(&self.begun) {
            self.lines.push_back(std::mem::take(&mut self.begun));
        } else {
            self.begun.push('\n');
        }
    }

    /// Handles the escape sequence or pasted text after an escape character. Returns the remaining
    /// input.
    fn escape<'a>(&mut self, keys: &'a str) -> &'a str {
        if let Some(pasted) = keys.strip_prefix(PASTE) {
            let (pasted, rest) = pasted.split_once(PASTED).unwrap_or((pasted, ""));
            let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
            self.begun.extend(lines.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)));
            return rest;
        }
        if let Some(rest) = keys.strip_prefix(['\r', '\n']) {
            self.begun.push('\n');
            return rest;
        }
        let Some(sequence) = keys.strip_prefix(['[', 'O']) else {
            let mut keys = keys.chars();
            keys.next();
            return keys.as_str();
        };
        let end = sequence.find(|c: char| ('@'..='~').contains(&c));
        end.and_then(|end| sequence.get(end + 1..)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typeahead(typed: &str) -> (Vec<String>, String) {
        let mut typeahead = Typeahead::default();
        typeahead.add(typed.as_bytes());
        let lines = std::iter::from_fn(|| typeahead.line()).collect();
        (lines, typeahead.begun())
    }

    #[test]
    fn lines_that_are_put_back_are_one_text() {
        let mut typeahead = Typeahead::default();
        typeahead.add(b"one\rtwo\rthr");
        typeahead.put_back();
        assert_eq!((typeahead.line(), typeahead.begun()), (None, "one\ntwo\nthr".to_owned()));
        typeahead.put_back();
        assert_eq!(typeahead.begun(), "");
    }

    #[test]
    fn lines_wait_as_they_were_typed() {
        let of = |lines: &[&str], begun: &str| {
            (lines.iter().map(|line| (*line).to_owned()).collect(), begun.to_owned())
        };
        assert_eq!(typeahead("one\rtwo\nthr"), of(&["one", "two"], "thr"));
        assert_eq!(typeahead("onw\u{7f}e\rno\u{15}yes\r"), of(&["one", "yes"], ""));
        assert_eq!(typeahead("a\u{1b}[Ab\u{1b}OHc\u{1b}[1;5Cd\u{1b}xe\u{3}\r"), of(&["abcde"], ""));
        assert_eq!(typeahead("a\u{1b}\rb\\\rc\r"), of(&["a\nb\\\nc"], ""));
        assert_eq!(typeahead("\u{1b}[200~a\rb\r\nc\u{1b}[201~d\r"), of(&["a\nb\ncd"], ""));
        assert_eq!(typeahead("\u{1b}[200~a\u{1b}]0;x\u{7}\r"), of(&[], "a]0;x\n"));
        assert_eq!(typeahead("\u{1b}["), of(&[], ""));
    }
}
