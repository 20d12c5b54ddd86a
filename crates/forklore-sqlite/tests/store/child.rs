//! Other processes: this test program, started again to do one thing.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{crowd, kill};

const ROLE: &str = "FORKLORE_SQLITE_ROLE";
const FILE: &str = "FORKLORE_SQLITE_FILE";

/// What begins a line that is meant for the parent and not the test runner's own.
const MARK: &str = "told: ";

/// A process that was started.
pub(crate) struct Process {
    pub(crate) child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts one that does `role` with the store in `file`.
    pub(crate) fn start(role: &str, file: &std::path::Path) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["child::does_what_it_was_started_for", "--exact"])
            .env(ROLE, role)
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, lines }
    }

    /// The next thing it told; none when it has ended.
    pub(crate) fn heard(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            // The first comes right behind what the test runner says.
            if let Some((_, told)) = line.split_once(MARK) {
                return Some(told.to_owned());
            }
        }
    }

    /// Lets it go on.
    pub(crate) fn go(&mut self) {
        self.input.write_all(b"go\n").unwrap();
    }
}

/// Tells the parent something; durable things only after they are.
pub(crate) fn tell(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Waits until the parent says go.
pub(crate) fn await_go() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn does_what_it_was_started_for() {
    let Ok(role) = env::var(ROLE) else {
        return;
    };
    let file = PathBuf::from(env::var_os(FILE).unwrap());
    match role.split_once(' ').unwrap() {
        ("crowd", number) => crowd::work(&file, number),
        ("kill", round) => kill::work(&file, round),
        other => panic!("no such role: {other:?}"),
    }
}
