//! Lets the user choose one of several lines with the arrow keys.

use forklore_sanitize::terminal;
use unicode_width::UnicodeWidthStr;

use super::key::Key;
use super::keyboard::{Keyboard, Pressed};
use super::no_echo::NoEcho;
use super::question;
use super::terminal::{is_plain, show, size};

/// The maximum number of lines that are shown at once. A low terminal shows fewer.
const ROWS: usize = 12;
/// The number of rows around the lines: the title, the keys, and the row of the cursor.
const AROUND: usize = 3;
/// The keys of the picker, as the user reads them.
const KEYS: &str = "↑ ↓ choose, Enter takes it, Esc leaves everything as it is";

/// Shows the lines below a title, and returns the index of the line that the user chooses. `chosen`
/// is the index of the line that is marked first. Returns `None` if the user chooses none.
pub(super) fn pick(
    title: &str,
    lines: &[String],
    chosen: usize,
    no_echo: &NoEcho,
) -> Option<usize> {
    if lines.is_empty() {
        return None;
    }
    if is_plain() {
        return by_number(title, lines, no_echo);
    }
    let keys = Keyboard::begin()?;
    let mut list = List { lines, chosen: chosen.min(lines.len() - 1), first: 0, rows: ROWS };
    let mut picked = None;
    let mut drawn = list.draw(title);
    loop {
        match keys.wait() {
            Pressed::Nothing => continue,
            Pressed::Key(Key::Enter) => {
                picked = Some(list.chosen);
                break;
            }
            Pressed::Key(Key::Escape | Key::Leave | Key::Char('q')) | Pressed::Closed => break,
            Pressed::Key(key) => list.go(key),
        }
        show(&erased(drawn));
        drawn = list.draw(title);
    }
    show(&erased(drawn));
    picked
}

/// Asks for the number of a line, on a terminal whose cursor cannot be moved. Returns the index of
/// the line, or `None` if the user chooses none.
fn by_number(title: &str, lines: &[String], no_echo: &NoEcho) -> Option<usize> {
    show(&format!("{title}\n"));
    for (number, line) in lines.iter().enumerate() {
        show(&format!("{:>4}  {}\n", number + 1, terminal::line(line)));
    }
    let answer = question::ask("Which? (Enter leaves everything as it is) ", no_echo)?;
    let number = answer.trim().parse::<usize>().ok()?.checked_sub(1)?;
    (number < lines.len()).then_some(number)
}

/// Returns the escape sequence that erases the `rows` rows above the cursor.
fn erased(rows: usize) -> String {
    format!("\u{1b}[{rows}A\r\u{1b}[J")
}

struct List<'a> {
    lines: &'a [String],
    chosen: usize,
    /// The index of the first line that is shown.
    first: usize,
    /// The number of lines that are shown at once.
    rows: usize,
}

impl List<'_> {
    fn go(&mut self, key: Key) {
        let last = self.lines.len().saturating_sub(1);
        self.chosen = match key {
            Key::Up | Key::Char('k') => self.chosen.saturating_sub(1),
            Key::Down | Key::Char('j') => self.chosen.saturating_add(1),
            Key::PageUp => self.chosen.saturating_sub(self.rows),
            Key::PageDown => self.chosen.saturating_add(self.rows),
            Key::Home => 0,
            Key::End => last,
            _ => self.chosen,
        }
        .min(last);
    }

    /// Draws the list. Returns the number of rows that it takes.
    fn draw(&mut self, title: &str) -> usize {
        let (width, height) = size();
        self.rows = height.saturating_sub(AROUND).clamp(1, ROWS);
        let shown = self.text(title, width);
        let rows = shown.lines().count();
        show(&shown);
        rows
    }

    fn text(&mut self, title: &str, width: usize) -> String {
        self.first = self.first.min(self.chosen).max((self.chosen + 1).saturating_sub(self.rows));
        let columns = width.saturating_sub(4).max(1);
        let cut = |text: &str| {
            let line = terminal::line(text);
            let fits = line.width() <= columns;
            if fits { line.into_owned() } else { terminal::cell(text, columns).into_owned() }
        };
        let mut text = format!("{}\n", cut(title));
        for (at, line) in self.lines.iter().enumerate().skip(self.first).take(self.rows) {
            let line = cut(line);
            text.push_str(&if at == self.chosen {
                format!("\u{1b}[7m> {line}\u{1b}[27m\n")
            } else {
                format!("  {line}\n")
            });
        }
        let of = self.lines.len();
        let number =
            if of > self.rows { format!("{} of {of}; ", self.chosen + 1) } else { String::new() };
        text.push_str(&format!("\u{1b}[2m{}\u{1b}[22m\n", cut(&format!("{number}{KEYS}"))));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_scrolls_with_the_chosen_line_and_escapes_what_it_shows() {
        let lines: Vec<String> = (1..=20).map(|n| format!("{n}\u{1b}[2J")).collect();
        let mut list = List { lines: &lines, chosen: 0, first: 0, rows: ROWS };
        list.go(Key::PageDown);
        list.go(Key::Down);
        let text = list.text("Which one?", 40);
        assert_eq!((list.chosen, list.first), (13, 2));
        assert!(!text.contains("\u{1b}[2J"), "{text:?}");
        assert!(text.contains("> 14") && text.contains("14 of 20; ↑"), "{text}");
        list.go(Key::End);
        list.go(Key::Down);
        assert_eq!(list.chosen, 19);
        list.go(Key::Home);
        list.go(Key::Up);
        assert_eq!(list.chosen, 0);
    }
}
