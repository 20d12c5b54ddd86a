//! Runs a program of the user that scores answers.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use forklore_api::{Explore, TestCounts};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::test_counts::Counter;
use crate::process_group::ProcessGroup;
use crate::program::is_installed;
use crate::{Error, Result};

/// The maximum number of bytes kept from each output stream of a judge (a program that scores
/// answers). The rest of the output is read and discarded.
const OUTPUT: usize = 4 << 10;
/// The exit codes with which a shell, or a program that starts others, says that it could not start
/// one.
const NOT_STARTED: [Option<i32>; 2] = [Some(126), Some(127)];
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
    #[must_use]
    pub fn line(&self) -> String {
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
    ///
    /// # Errors
    /// `invalid_args` if there is no such program.
    pub fn find(&self) -> Result<()> {
        if is_installed(&self.program) {
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
        let printed = self.within_time(self.run(answer, None), cancel).await?;
        number(&printed.output, &printed.errors, printed.status)
    }

    /// Judges the files of a folder: runs the program in the folder, with the agent's answer on its
    /// standard input. If the program prints a number alone, this is the score. Otherwise the score
    /// is 1 if the program succeeds. If it fails, the score is the share of its tests that passed,
    /// less than 1.
    ///
    /// # Errors
    /// A message that explains why there is no verdict: the program, or the command that it runs,
    /// does not start, takes too long or is interrupted.
    pub async fn judge_folder(
        &self,
        folder: &Path,
        answer: &str,
        cancel: &CancellationToken,
    ) -> Result<Verdict, String> {
        let printed = self.within_time(self.run(answer, Some(folder)), cancel).await?;
        let is_good = printed.status.success();
        let why = (!is_good && printed.tests.is_none())
            .then(|| ended(&String::from_utf8_lossy(&printed.errors), printed.status));
        if let Some(why) = why.as_ref().filter(|_| NOT_STARTED.contains(&printed.status.code())) {
            return Err(why.clone());
        }
        let text = String::from_utf8_lossy(&printed.output);
        let number = text.trim().parse::<f64>().ok().filter(|it| is_good && it.is_finite());
        let tests = printed.tests;
        let passed =
            tests.map_or(0.0, |it| it.passed as f64 / (it.passed + it.failed).max(1) as f64);
        let score = match (number, is_good) {
            (Some(number), _) => number,
            (None, true) => 1.0,
            (None, false) => passed.min(0.99),
        };
        Ok(Verdict { score, tests, why })
    }

    async fn within_time<T>(
        &self,
        judging: impl Future<Output = Result<T, String>>,
        cancel: &CancellationToken,
    ) -> Result<T, String> {
        let seconds = self.timeout.as_secs();
        tokio::select! {
            done = judging => done,
            () = tokio::time::sleep(self.timeout) => Err(format!("the judge took over {seconds} s")),
            () = cancel.cancelled() => Err("the judge was interrupted".to_owned()),
        }
    }

    async fn run(&self, answer: &str, folder: Option<&Path>) -> Result<Printed, String> {
        let failed = |error: io::Error| format!("the judge {}: {error}", self.program);
        let mut command = Command::new(&self.program);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let mut child = command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let group = ProcessGroup::of(&child);
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
        let (mut counts, mut error_counts) = (Counter::default(), Counter::default());
        let ((), output, errors, status) = tokio::join!(
            write,
            beginning(stdout, &mut counts),
            end(stderr, &mut error_counts),
            wait
        );
        let status = status.map_err(failed)?;
        let tests = counts.counts().or_else(|| error_counts.counts());
        Ok(Printed { output, errors, tests, status })
    }
}

/// What a judge found in a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The score; a larger one is better.
    pub score: f64,
    /// The tests that the judge ran, if it printed how many.
    pub tests: Option<TestCounts>,
    /// How the judge ended, if it failed without saying which tests did.
    pub why: Option<String>,
}

/// What a judge printed, and how it ended.
struct Printed {
    /// The beginning of its output.
    output: Vec<u8>,
    /// The end of its error output.
    errors: Vec<u8>,
    tests: Option<TestCounts>,
    status: ExitStatus,
}

/// Reads all output of a judge, because the judge could otherwise block on a full pipe. Returns the
/// first [`OUTPUT`] bytes.
async fn beginning(output: Option<impl AsyncRead + Unpin>, counter: &mut Counter) -> Vec<u8> {
    read(output, counter, |bytes, more| {
        let left = OUTPUT.saturating_sub(bytes.len());
        bytes.extend(more.iter().take(left));
    })
    .await
}

/// Reads all error output of a judge, and returns its last [`OUTPUT`] bytes, which have the error
/// message.
async fn end(output: Option<impl AsyncRead + Unpin>, counter: &mut Counter) -> Vec<u8> {
    read(output, counter, |bytes, more| {
        bytes.extend(more);
        bytes.drain(..bytes.len().saturating_sub(OUTPUT));
    })
    .await
}

async fn read(
    output: Option<impl AsyncRead + Unpin>,
    counter: &mut Counter,
    mut add: impl FnMut(&mut Vec<u8>, &[u8]),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut output) = output else { return bytes };
    let mut buffer = [0; 4096];
    while let Ok(len @ 1..) = output.read(&mut buffer).await {
        let more = buffer.get(..len).unwrap_or_default();
        counter.add(more);
        add(&mut bytes, more);
    }
    bytes
}

/// Parses the number that the judge printed. The error explains a failed exit or an output that is
/// no number.
fn number(printed: &[u8], errors: &[u8], status: ExitStatus) -> Result<f64, String> {
    let (printed, errors) = (String::from_utf8_lossy(printed), String::from_utf8_lossy(errors));
    if !status.success() {
        return Err(ended(&errors, status));
    }
    let number = printed.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| match printed.trim() {
        "" => "the judge printed nothing".to_owned(),
        printed => format!("the judge printed no number, but: {}", shortened(printed)),
    })
}

/// Says how a judge ended, with the last line of its error output.
fn ended(errors: &str, status: ExitStatus) -> String {
    let last = errors.lines().rfind(|line| !line.trim().is_empty());
    let why = last.map(|line| format!(": {}", shortened(line))).unwrap_or_default();
    format!("the judge ended with {status}{why}")
}

fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(REPEATED).collect()
}
