//! Shows long answers in a pager, such as `less`.

use std::io::{self, BufWriter, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::interrupts;

/// The pager if `PAGER` names none. It shows colors and leaves the answer on the screen. It ends at
/// once if the answer fits the screen.
const DEFAULT: [&str; 2] = ["less", "-FRX"];

/// The destination of an answer: the standard output, or a pager.
pub(super) enum Out {
    Direct(Box<dyn Write>),
    Paged(Pager),
}

impl Out {
    /// Passes the following output through a pager as soon as this output has `rows` lines. Does
    /// nothing if `PAGER` is empty or `cat`, or the terminal cannot move its cursor.
    pub(super) fn page(self, rows: usize) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        match (self, program(variable("PAGER").as_deref(), variable("TERM").as_deref())) {
            (Self::Direct(direct), Some(program)) => Self::Paged(Pager {
                program,
                rows,
                waiting: Vec::new(),
                lines: 0,
                direct,
                state: State::Waiting,
            }),
            (out, _) => out,
        }
    }

    /// Writes the rest, and waits until the user leaves the pager.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(super) fn close(&mut self) -> io::Result<()> {
        match self {
            Self::Direct(direct) => direct.flush(),
            Self::Paged(pager) => pager.close(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Direct(direct) => direct.write(bytes),
            Self::Paged(pager) => pager.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Direct(direct) => direct.flush(),
            Self::Paged(pager) => pager.flush(),
        }
    }
}

/// Returns the command line of the pager. Returns `None` if the value `pager` of `PAGER` requests
/// no pager, or the terminal cannot move its cursor.
fn program(pager: Option<&str>, terminal: Option<&str>) -> Option<Vec<String>> {
    if terminal == Some("dumb") {
        return None;
    }
    let Some(pager) = pager else { return Some(DEFAULT.map(str::to_owned).to_vec()) };
    let words = shlex::split(pager)?;
    (!words.is_empty() && words != ["cat"]).then_some(words)
}

/// Holds an answer back until it fills the screen, and then passes it to a pager.
pub(super) struct Pager {
    program: Vec<String>,
    rows: usize,
    waiting: Vec<u8>,
    /// The number of lines in `waiting`.
    lines: usize,
    direct: Box<dyn Write>,
    state: State,
}

enum State {
    /// The answer may still fit the screen.
    Waiting,
    /// The pager runs.
    Running(Child, BufWriter<ChildStdin>),
    /// No pager runs: it does not start, or it has ended.
    Direct,
}

impl Pager {
    fn start(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        match spawn(&self.program) {
            Some((child, input)) => {
                // Ctrl-C is for the pager, which has the terminal.
                interrupts::leave();
                self.state = State::Running(child, input);
            }
            None => self.state = State::Direct,
        }
        self.write_all(&waiting)
    }

    fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Direct) {
            State::Waiting => {
                let waiting = std::mem::take(&mut self.waiting);
                self.direct.write_all(&waiting)?;
                self.direct.flush()
            }
            State::Running(mut child, mut input) => {
                // The user may have left the pager before its end.
                let written = input.flush();
                drop(input);
                let ended = child.wait();
                interrupts::heed();
                written.and(ended.map(drop))
            }
            State::Direct => self.direct.flush(),
        }
    }
}

/// Starts the pager; `None` if it does not start.
fn spawn(program: &[String]) -> Option<(Child, BufWriter<ChildStdin>)> {
    let (name, arguments) = program.split_first()?;
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // A plain `PAGER=less` shows colors too.
        command.env("LESS", "FRX");
    }
    let mut child = command.spawn().ok()?;
    let input = child.stdin.take()?;
    Some((child, BufWriter::new(input)))
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Running(_, input) => input.write(bytes),
            State::Direct => self.direct.write(bytes),
            State::Waiting => {
                self.waiting.extend_from_slice(bytes);
                self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                if self.lines >= self.rows {
                    self.start()?;
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Running(_, input) => input.flush(),
            State::Direct => self.direct.flush(),
            State::Waiting => Ok(()),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // After a panic, the terminal belongs to the pager until the user leaves it.
        let _ = self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_chooses_the_pager_or_none() {
        let program = |pager: Option<&str>, terminal: &str| program(pager, Some(terminal));
        let words = |words: &[&str]| Some(words.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(program(None, "xterm"), words(&["less", "-FRX"]));
        assert_eq!(program(Some("more -d 'a b'"), "xterm"), words(&["more", "-d", "a b"]));
        for none in ["", " ", "cat", "'"] {
            assert_eq!(program(Some(none), "xterm"), None, "{none}");
        }
        assert_eq!(program(None, "dumb"), None);
    }
}
