//! Reads contents from the repository of snapshots.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Take, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;

use crate::git::{Git, not_started};
use crate::{Error, Result};

const COMMAND: &str = "cat-file";
/// What is read from git at once.
const PART: usize = 1 << 17;

/// The contents of one object, as git sends them.
pub(crate) type Object<'a> = Take<&'a mut BufReader<ChildStdout>>;

/// Calls a function with a reader of each of these contents, in their order. git gets all ids at
/// once, so that it reads the next contents while the function works.
pub(crate) fn read_all(
    git: &Git,
    ids: &[&str],
    mut read: impl FnMut(&mut Object<'_>) -> Result<()>,
) -> Result<()> {
    let (input, mut answers) = start(git)?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            // If git ends early, an answer is missing: that is the error.
            ids.iter().try_for_each(|id| writeln!(input, "{id}")).ok();
        });
        let done = ids.iter().try_for_each(|_| answers.next(&mut read));
        // The thread waits for git, so an error must end git first.
        drop(answers);
        done
    })
}

fn start(git: &Git) -> Result<(ChildStdin, Answers<'_>)> {
    let mut command = git.command(COMMAND);
    command.args(["--batch", "--buffer"]).stderr(Stdio::null());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|source| not_started(source, git.folder()))?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(git.failed(COMMAND, b"it has no input or output"));
    };
    Ok((input, Answers { git, child, output: BufReader::with_capacity(PART, output) }))
}

/// What a process of git answers.
struct Answers<'a> {
    git: &'a Git,
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Answers<'_> {
    fn next(&mut self, mut read: impl FnMut(&mut Object<'_>) -> Result<()>) -> Result<()> {
        let failed = |error: io::Error| self.git.failed(COMMAND, error.to_string().as_bytes());
        let mut head = String::new();
        self.output.read_line(&mut head).map_err(failed)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
        let Some(size) = size else {
            return Err(Error::Answer { command: COMMAND, answer: head.into() });
        };
        let mut contents = Read::by_ref(&mut self.output).take(size);
        read(&mut contents)?;
        // What was not read, and the line end behind it.
        io::copy(&mut contents, &mut io::sink()).map_err(failed)?;
        self.output.read_exact(&mut [0]).map_err(failed)
    }
}

impl Drop for Answers<'_> {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
