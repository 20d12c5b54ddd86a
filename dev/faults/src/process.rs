//! Worker processes: started to use a store, and stopped or killed in the middle of their work.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// The task for which a process is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The name of the work in the worker.
    pub work: String,
    /// The kind of the store.
    pub kind: Kind,
    /// The directory of the store.
    pub store: PathBuf,
    /// A unique name of the process, also used in ids.
    pub name: String,
    /// The seed of the process's random choices.
    pub seed: u64,
    /// The number of calls to make; 0 means until it is stopped.
    pub calls: u64,
    /// A file to import, if the work imports one.
    pub file: Option<PathBuf>,
}

/// A running worker process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
}

impl Process {
    /// Starts a process. `program` takes a [`Task`] as its only argument.
    ///
    /// # Panics
    /// If it cannot be started. The functions below panic as well if the process does not respond.
    #[must_use]
    pub fn start(program: &Path, task: &Task) -> Self {
        Self::spawn(&mut command(program, task)).expect("the worker starts")
    }

    /// Starts a process from a command that [`command`] prepared.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        // The thread empties the pipe continuously: a full pipe would block the process.
        let reader = std::thread::spawn(move || {
            // A line that a kill cut off is ignored.
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines, reader })
    }

    /// Returns the next message of the process; `None` after its end.
    pub fn received<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.lines.recv().ok().map(|line| parse(&line))
    }

    /// Sends the process the go signal that [`await_go`] waits for.
    pub fn go(&mut self) {
        self.input.write_all(b"go\n").expect("a process that listens");
    }

    /// Sends the process a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("its number"), signal).expect("a process to be told");
    }

    /// Kills the process and returns all its messages that were not read yet.
    #[must_use]
    pub fn killed<T: DeserializeOwned>(self) -> Vec<T> {
        self.signal(Signal::KILL);
        self.ended().1
    }

    /// Waits for the end of the process and returns all its messages that were not read yet.
    #[must_use]
    pub fn ended<T: DeserializeOwned>(mut self) -> (ExitStatus, Vec<T>) {
        drop(self.input);
        let reported = self.lines.iter().map(|line| parse(&line)).collect();
        self.reader.join().expect("the reader of its output");
        (self.child.wait().expect("the end of a process"), reported)
    }
}

fn parse<T: DeserializeOwned>(line: &str) -> T {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
}

/// Returns the command that starts `program` with `task`.
///
/// # Panics
/// Never: a task can always be written as JSON.
#[must_use]
pub fn command(program: &Path, task: &Task) -> Command {
    let mut command = Command::new(program);
    command.arg(serde_json::to_string(task).expect("a task in JSON"));
    command
}

/// Sends a message to the parent in a single write, so that a kill cannot cut a line off.
///
/// # Panics
/// If the parent no longer reads.
pub fn tell<T: Serialize>(what: &T) {
    let mut line = serde_json::to_string(what).expect("something in JSON");
    line.push('\n');
    assert!(line.len() <= 4096, "longer than what a pipe takes at once: {line}");
    std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that listens");
}

/// Waits for the go signal of the parent.
///
/// # Panics
/// If the parent is gone.
pub fn await_go() {
    std::io::stdin().read_line(&mut String::new()).expect("a parent that speaks");
}
