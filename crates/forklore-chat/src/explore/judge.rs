//! A program of the user's that gives an answer a mark.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::{Error, Result};

/// How long a judge may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that reads an answer and prints a number. It is named on the user's own command line
/// only, and no shell reads its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    program: String,
    arguments: Vec<String>,
}

impl Judge {
    /// The judge of a command line, whose words may be in quotes.
    ///
    /// # Errors
    /// When it names no program.
    pub fn parse(line: &str) -> Result<Self> {
        let words = shlex::split(line).unwrap_or_default();
        let mut words = words.into_iter();
        let wrong = || Error::words("--judge takes a command that prints a number");
        let program = words.next().ok_or_else(wrong)?;
        Ok(Self { program, arguments: words.collect() })
    }

    /// The mark of an answer, or what is wrong with the judge.
    pub(super) async fn mark(
        &self,
        answer: &str,
        cancel: &CancellationToken,
    ) -> Result<f64, String> {
        tokio::select! {
            mark = self.ask(answer) => mark,
            () = tokio::time::sleep(PATIENCE) => Err(format!("the judge took over {PATIENCE:?}")),
            () = cancel.cancelled() => Err("the judge was interrupted".to_owned()),
        }
    }

    async fn ask(&self, answer: &str) -> Result<f64, String> {
        let failed = |error: std::io::Error| format!("the judge {}: {error}", self.program);
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let stdin = child.stdin.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A judge need not read all, or any of it.
                let _ = stdin.write_all(answer.as_bytes()).await;
            }
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output.map_err(failed)?;
        if !output.status.success() {
            return Err(format!("the judge ended with {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text.split_whitespace().next().unwrap_or_default().parse::<f64>();
        let number = number.ok().filter(|number| number.is_finite());
        number.ok_or_else(|| "the judge printed no number".to_owned())
    }
}
