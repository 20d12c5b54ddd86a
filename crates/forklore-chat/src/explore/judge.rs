//! A program of the user's that gives an answer a mark.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::{Error, Result};

/// Of what a judge prints so much is kept; the rest is read and forgotten.
const KEPT: usize = 4 << 10;
/// Of what it printed so much is repeated.
const REPEATED: usize = 60;

/// A program that reads an answer and prints a number. It is named on the user's own command line
/// only, and no shell reads its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    program: String,
    arguments: Vec<String>,
    patience: Duration,
}

impl Judge {
    /// How long a judge may take where nobody says how long.
    pub const PATIENCE: Duration = Duration::from_secs(120);

    /// The judge of a command line, whose words may be in quotes.
    ///
    /// # Errors
    /// When it names no program.
    pub fn parse(line: &str) -> Result<Self> {
        let words = shlex::split(line).unwrap_or_default();
        let mut words = words.into_iter();
        let wrong = || Error::words("--judge takes a command that prints a number");
        let program = words.next().ok_or_else(wrong)?;
        Ok(Self { program, arguments: words.collect(), patience: Self::PATIENCE })
    }

    /// The same with another time for each answer.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The mark of an answer, or what is wrong with the judge.
    pub(super) async fn mark(
        &self,
        answer: &str,
        cancel: &CancellationToken,
    ) -> Result<f64, String> {
        let seconds = self.patience.as_secs();
        tokio::select! {
            mark = self.ask(answer) => mark,
            () = tokio::time::sleep(self.patience) => {
                Err(format!("the judge took over {seconds} s (--judge-timeout sets how long it may)"))
            }
            () = cancel.cancelled() => Err("the judge was interrupted".to_owned()),
        }
    }

    async fn ask(&self, answer: &str) -> Result<f64, String> {
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
                // A judge need not read all, or any of it.
                let _ = stdin.write_all(answer.as_bytes()).await;
            }
        };
        let over = async {
            let status = child.wait().await;
            // What it left behind would keep its output open.
            drop(group);
            status
        };
        let ((), said, complaint, status) =
            tokio::join!(write, beginning(stdout), end(stderr), over);
        number(&said, &complaint, status.map_err(failed)?)
    }
}

/// The processes that a judge consists of, in a group of their own: a Ctrl-C at the terminal ends
/// them through us. They are killed when this goes.
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
            // A group that has no process any more is no matter.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// What a program prints: all of it is read, so that it need not wait, and the beginning kept.
async fn beginning(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    read(output, |kept, bytes| {
        let room = KEPT.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(room));
    })
    .await
}

/// The same, with the end kept: an error stands there.
async fn end(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    read(output, |kept, bytes| {
        kept.extend(bytes);
        kept.drain(..kept.len().saturating_sub(KEPT));
    })
    .await
}

async fn read(
    output: Option<impl AsyncRead + Unpin>,
    mut keep: impl FnMut(&mut Vec<u8>, &[u8]),
) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut output) = output else { return kept };
    let mut buffer = [0; 4096];
    while let Ok(len @ 1..) = output.read(&mut buffer).await {
        keep(&mut kept, buffer.get(..len).unwrap_or_default());
    }
    kept
}

/// The mark that was printed.
fn number(said: &[u8], complaint: &[u8], status: ExitStatus) -> Result<f64, String> {
    let (said, complaint) = (String::from_utf8_lossy(said), String::from_utf8_lossy(complaint));
    if !status.success() {
        let last = complaint.lines().rfind(|line| !line.trim().is_empty());
        let why = last.map(|line| format!(": {}", shortened(line))).unwrap_or_default();
        return Err(format!("the judge ended with {status}{why}"));
    }
    let number = said.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| match said.trim() {
        "" => "the judge printed nothing".to_owned(),
        said => format!("the judge printed no number, but: {}", shortened(said)),
    })
}

fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(REPEATED).collect()
}
