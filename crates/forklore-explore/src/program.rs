//! The program of an agent: started, watched and stopped.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use forklore_host::{CancellationToken, ProcessGroup};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::{Error, Result};

/// The time after which what the agent has written is looked at again.
const LOOK: Duration = Duration::from_secs(2);
/// The time that a program gets to end by itself when it is stopped.
const GRACE: Duration = Duration::from_secs(5);
/// The time that a command has which only prints something.
const SHORT: Duration = Duration::from_secs(120);
/// The largest number of bytes of the output that are remembered.
const REMEMBERED: usize = 4 << 10;

/// A running program of an agent. Dropping this value kills it and what it started.
pub(crate) struct Program {
    name: String,
    child: Child,
    group: ProcessGroup,
    began: Instant,
    errors: JoinHandle<Vec<u8>>,
    output: JoinHandle<Vec<u8>>,
}

impl Program {
    /// Starts a command in a folder, without a terminal. It reads `input` and then the end.
    pub(crate) fn start(command: &[String], folder: &Path, input: Option<&str>) -> Result<Self> {
        let (name, arguments) =
            command.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
        let child = Command::new(name)
            .args(arguments)
            .current_dir(folder)
            // As a shell sets it. opencode works in this folder.
            .env("PWD", folder)
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let name = name.to_owned();
        let mut child = match child {
            Ok(child) => child,
            Err(source) => return Err(Error::Start { program: name, source }),
        };
        let group = ProcessGroup::of(&child);
        if let Some((mut stdin, input)) = child.stdin.take().zip(input) {
            let input = input.to_owned();
            // A program that ends before it has read everything says itself why.
            tokio::spawn(async move { stdin.write_all(input.as_bytes()).await.ok() });
        }
        let errors = tokio::spawn(end_of(child.stderr.take()));
        let output = tokio::spawn(end_of(child.stdout.take()));
        Ok(Self { name, child, group, began: Instant::now(), errors, output })
    }

    /// Waits until the program ends or has worked for a while. Returns whether it has ended.
    ///
    /// # Errors
    /// If the program failed, was interrupted, or has worked longer than `timeout`; it has ended then.
    pub(crate) async fn has_ended(
        &mut self,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<bool> {
        let end = self.began + timeout;
        tokio::select! {
            status = self.child.wait() => self.result(status).await,
            () = cancel.cancelled() => {
                self.stop().await;
                Err(Error::Interrupted)
            }
            () = tokio::time::sleep_until(end) => {
                self.stop().await;
                let seconds = timeout.as_secs();
                Err(Error::TooLong { program: self.name.clone(), seconds })
            }
            () = tokio::time::sleep(LOOK) => Ok(false),
        }
    }

    async fn result(&mut self, status: std::io::Result<std::process::ExitStatus>) -> Result<bool> {
        let program = self.name.clone();
        let status = match status {
            Ok(status) if status.success() => return Ok(true),
            Ok(status) => status,
            Err(source) => return Err(Error::Start { program, source }),
        };
        // A process that the agent started may hold the pipes open.
        let errors = tokio::time::timeout(GRACE, &mut self.errors).await;
        let errors = last_line(&errors.ok().and_then(Result::ok).unwrap_or_default());
        let last = match errors {
            Some(last) => Some(last),
            None => {
                let output = tokio::time::timeout(GRACE, &mut self.output).await;
                last_line(&output.ok().and_then(Result::ok).unwrap_or_default())
            }
        };
        Err(Error::Ended { program, status, last })
    }

    /// Asks the program to end, and waits for it for a while. What is left is killed.
    async fn stop(&mut self) {
        self.group.terminate();
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
    }
}

/// Runs a short command of an agent in a folder to its end, and returns what it printed.
pub(crate) async fn printed(
    command: &[&str],
    folder: &Path,
    cancel: &CancellationToken,
) -> Result<String> {
    let (name, arguments) =
        command.split_first().map_or(("", &[][..]), |(name, rest)| (*name, rest));
    let program = || name.to_owned();
    let mut command = Command::new(name);
    command.args(arguments).current_dir(folder).env("PWD", folder);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::select! {
        output = command.output() => output,
        () = cancel.cancelled() => return Err(Error::Interrupted),
        () = tokio::time::sleep(SHORT) => {
            return Err(Error::TooLong { program: program(), seconds: SHORT.as_secs() });
        }
    };
    let output = output.map_err(|source| Error::Start { program: program(), source })?;
    if !output.status.success() {
        let last = last_line(&output.stderr).or_else(|| last_line(&output.stdout));
        return Err(Error::Ended { program: program(), status: output.status, last });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads all output of a program, which could otherwise block on a full pipe. Returns its end.
async fn end_of(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut output) = output else { return bytes };
    let mut buffer = [0; 4096];
    while let Ok(len @ 1..) = output.read(&mut buffer).await {
        bytes.extend_from_slice(buffer.get(..len).unwrap_or_default());
        bytes.drain(..bytes.len().saturating_sub(REMEMBERED));
    }
    bytes
}

fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(last.trim().chars().take(200).collect())
}
