//! Runs a program of the user that scores answers.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use forklore_api::Explore;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::{Error, Result};

/// The folders in which the C libraries search for a program if the variable `PATH` is not set.
const WITHOUT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The maximum number of bytes kept from each output stream of a judge (a program that scores
/// answers). The rest of the output is read and discarded.
const OUTPUT: usize = 4 << 10;
/// The maximum number of characters that an error repeats from the output of a judge.
const REPEATED: usize = 60;

/// A program that reads an answer from standard input and prints the answer's score, a number. No
/// shell interprets the program's arguments. The user's command line or a request
/// ([`Plan::of`](super::Plan::of)) names the program, and the host runs any program that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl Judge {
    /// The default time limit for a judge to score one answer: 120 s.
    pub const TIMEOUT: Duration = Duration::from_secs(Explore::JUDGE_TIMEOUT_SECONDS);

    /// Parses a judge's command line: a program and its arguments, which may be quoted.
    ///
    /// # Errors
    /// Returns an error if the line names no program.
    pub fn parse(line: &str) -> Result<Self> {
        let words = shlex::split(line).unwrap_or_default();
        let mut words = words.into_iter();
        let wrong = || Error::invalid("a judge is a command that prints a number");
        let program = words.next().ok_or_else(wrong)?;
        Ok(Self { program, arguments: words.collect(), timeout: Self::TIMEOUT })
    }

    /// Returns the judge's command line, as a shell reads it.
    pub(super) fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        // A word with a NUL came from no command line.
        shlex::try_join(words.map(String::as_str)).unwrap_or_else(|_| self.program.clone())
    }

    /// Sets the judge's time limit for one answer, instead of the default
    /// [`TIMEOUT`](Self::TIMEOUT).
    #[must_use]
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Checks that the judge's program exists. Called before the exploration, so that a missing
    /// judge is reported before model calls cost money.
    pub(super) fn find(&self) -> Result<()> {
        let found = if self.program.contains('/') {
            is_program(Path::new(&self.program))
        } else {
            let folders = std::env::var_os("PATH").unwrap_or_else(|| WITHOUT_PATH.into());
            std::env::split_paths(&folders)
                .any(|folder: PathBuf| is_program(&folder.join(&self.program)))
        };
        if found {
            return Ok(());
        }
        Err(Error::invalid(format!("there is no program {} to judge the answers", self.program)))
    }

    /// Returns the judge's score of an answer, or a message that explains why there is no score.
    pub(super) async fn score(
        &self,
        answer: &str,
        cancel: &CancellationToken,
    ) -> Result<f64, String> {
        let seconds = self.timeout.as_secs();
        tokio::select! {
            score = self.run(answer) => score,
            () = tokio::time::sleep(self.timeout) => Err(format!("the judge took over {seconds} s")),
            () = cancel.cancelled() => Err("the judge was interrupted".to_owned()),
        }
    }

    async fn run(&self, answer: &str) -> Result<f64, String> {
        let failed = |error: io::Error| format!("the judge {}: {error}", self.program);
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let group = Group::of(&child);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // Writing fails if the judge exits without reading the whole answer, which is no
                // error.
                let _ = stdin.write_all(answer.as_bytes()).await;
            }
        };
        let wait = async {
            let status = child.wait().await;
            // Kill the processes that the judge started: they could hold its output pipes open.
            drop(group);
            status
        };
        let ((), printed, errors, status) =
            tokio::join!(write, beginning(stdout), end(stderr), wait);
        number(&printed, &errors, status.map_err(failed)?)
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The process group of a judge and its child processes. Because the group is separate, Ctrl-C at
/// the terminal does not reach the judge. Dropping this value kills the group.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // The call fails if all processes of the group have ended, which is no error.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads all output of a judge, because the judge could otherwise block on a full pipe. Returns the
/// first [`OUTPUT`] bytes.
async fn beginning(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    read(output, |bytes, more| {
        let left = OUTPUT.saturating_sub(bytes.len());
        bytes.extend(more.iter().take(left));
    })
    .await
}

/// Reads all error output of a judge, and returns its last [`OUTPUT`] bytes, which have the error
/// message.
async fn end(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    read(output, |bytes, more| {
        bytes.extend(more);
        bytes.drain(..bytes.len().saturating_sub(OUTPUT));
    })
    .await
}

async fn read(
    output: Option<impl AsyncRead + Unpin>,
    mut add: impl FnMut(&mut Vec<u8>, &[u8]),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut output) = output else { return bytes };
    let mut buffer = [0; 4096];
    while let Ok(len @ 1..) = output.read(&mut buffer).await {
        add(&mut bytes, buffer.get(..len).unwrap_or_default());
    }
    bytes
}

/// Parses the number that the judge printed. The error explains a failed exit or an output that is
/// no number.
fn number(printed: &[u8], errors: &[u8], status: ExitStatus) -> Result<f64, String> {
    let (printed, errors) = (String::from_utf8_lossy(printed), String::from_utf8_lossy(errors));
    if !status.success() {
        let last = errors.lines().rfind(|line| !line.trim().is_empty());
        let why = last.map(|line| format!(": {}", shortened(line))).unwrap_or_default();
        return Err(format!("the judge ended with {status}{why}"));
    }
    let number = printed.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| match printed.trim() {
        "" => "the judge printed nothing".to_owned(),
        printed => format!("the judge printed no number, but: {}", shortened(printed)),
    })
}

fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(REPEATED).collect()
}
