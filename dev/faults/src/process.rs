//! Other processes: started to use a store, stopped or killed in the middle of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// What a process is started for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Which work, by the name it has in the worker.
    pub work: String,
    /// Which store.
    pub kind: Kind,
    /// The store's folder.
    pub store: PathBuf,
    /// What tells the process from others, in ids too.
    pub name: String,
    /// The seed of its choices.
    pub seed: u64,
    /// How many calls it makes; 0 is as many as it can.
    pub calls: u64,
    /// A file to import, where the work imports one.
    pub file: Option<PathBuf>,
}

/// A process at work.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
}

impl Process {
    /// Starts one. `program` takes a [`Task`] as its only argument.
    ///
    /// # Panics
    /// When it cannot be started, as in all functions below.
    #[must_use]
    pub fn start(program: &Path, task: &Task) -> Self {
        Self::spawn(&mut command(program, task)).expect("the worker starts")
    }

    /// Starts one that was prepared by [`command`].
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        // A full pipe would stop the process where no test wants it stopped.
        let reader = std::thread::spawn(move || {
            // A line that a kill tore is none.
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines, reader })
    }

    /// The next thing it tells; none when it has ended.
    pub fn received<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.lines.recv().ok().map(|line| parse(&line))
    }

    /// Lets it go on.
    pub fn go(&mut self) {
        self.input.write_all(b"go\n").expect("a process that listens");
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("its number"), signal).expect("a process to be told");
    }

    /// Kills it, and gives all that it told before and nobody heard.
    #[must_use]
    pub fn killed<T: DeserializeOwned>(self) -> Vec<T> {
        self.signal(Signal::KILL);
        self.ended().1
    }

    /// Waits for its end, and gives all that it told and nobody heard.
    #[must_use]
    pub fn ended<T: DeserializeOwned>(mut self) -> (ExitStatus, Vec<T>) {
        drop(self.input);
        let told = self.lines.iter().map(|line| parse(&line)).collect();
        self.reader.join().expect("the reader of its output");
        (self.child.wait().expect("the end of a process"), told)
    }
}

fn parse<T: DeserializeOwned>(line: &str) -> T {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
}

/// The command that starts `program` for `task`.
///
/// # Panics
/// Never: a task is JSON.
#[must_use]
pub fn command(program: &Path, task: &Task) -> Command {
    let mut command = Command::new(program);
    command.arg(serde_json::to_string(task).expect("a task in JSON"));
    command
}

/// Tells the parent something, in one write, so that a kill tears no line.
///
/// # Panics
/// When nobody listens any more.
pub fn tell<T: Serialize>(what: &T) {
    let mut line = serde_json::to_string(what).expect("something in JSON");
    line.push('\n');
    assert!(line.len() <= 4096, "longer than what a pipe takes at once: {line}");
    std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that listens");
}

/// Waits until the parent says go.
///
/// # Panics
/// When the parent is gone.
pub fn await_go() {
    std::io::stdin().read_line(&mut String::new()).expect("a parent that speaks");
}
