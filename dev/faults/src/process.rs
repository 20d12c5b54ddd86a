//! Worker processes that use a store and are stopped or killed in the middle of their work.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// The task of a worker process. The process receives it as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The name of the work. The worker process selects the function to run by this name.
    pub work: String,
    /// The kind of the store.
    pub kind: Kind,
    /// The directory of the store.
    pub store: PathBuf,
    /// A unique name of the process, which is also part of the ids that the process creates.
    pub name: String,
    /// The seed of the process's random choices.
    pub seed: u64,
    /// How many calls to the store the worker makes, or rounds of calls, depending on its work. If
    /// the work can run without end, 0 means that it runs until the process is stopped.
    pub calls: u64,
    /// The path that the worker imports: a file, or a directory of files. `None` if the work
    /// imports nothing.
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
    /// Starts a worker process: runs `program` with `task`, as JSON, as its only argument.
    ///
    /// # Panics
    /// If the process cannot be started. The other methods of this type panic if communication with
    /// the process fails.
    #[must_use]
    pub fn start(program: &Path, task: &Task) -> Self {
        Self::spawn(&mut command(program, task)).expect("the worker starts")
    }

    /// Starts a worker process from a command that the function [`command`] returned.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        // The thread empties the pipe continuously: a full pipe would block the process.
        let reader = std::thread::spawn(move || {
            // Stops at the first line that cannot be read.
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, lines, reader })
    }

    /// Waits for the next message of the process and returns it. Returns `None` if the process
    /// ended without another message.
    pub fn received<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.lines.recv().ok().map(|line| parse(&line))
    }

    /// Sends the go signal to the process: a line on its standard input, for which it waits in
    /// [`await_go`].
    pub fn go(&mut self) {
        self.input.write_all(b"go\n").expect("a process that listens");
    }

    /// Sends a Unix signal to the process.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("its number"), signal).expect("a process to be told");
    }

    /// Kills the process and waits for its end. Returns all its messages that were not yet
    /// received.
    #[must_use]
    pub fn killed<T: DeserializeOwned>(self) -> Vec<T> {
        self.signal(Signal::KILL);
        self.ended().1
    }

    /// Closes the input of the process and waits for its end. Returns its exit status and all its
    /// messages that were not yet received.
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

/// Returns the command that starts `program` with `task` as its argument.
///
/// # Panics
/// Never: a task can always be written as JSON.
#[must_use]
pub fn command(program: &Path, task: &Task) -> Command {
    let mut command = Command::new(program);
    command.arg(serde_json::to_string(task).expect("a task in JSON"));
    command
}

/// Sends a message to the parent process as one line of standard output. Uses a single write, so
/// that a kill cannot truncate the line.
///
/// # Panics
/// If the parent process no longer reads, or the message is longer than 4096 bytes.
pub fn tell<T: Serialize>(what: &T) {
    let mut line = serde_json::to_string(what).expect("something in JSON");
    line.push('\n');
    assert!(line.len() <= 4096, "longer than what a pipe takes at once: {line}");
    std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that listens");
}

/// Waits until the parent process sends the go signal, a line on standard input.
///
/// # Panics
/// If standard input cannot be read.
pub fn await_go() {
    std::io::stdin().read_line(&mut String::new()).expect("a parent that speaks");
}
