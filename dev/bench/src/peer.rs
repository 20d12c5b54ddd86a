//! The peers: alternatives that an agent's author might use. They are Python libraries. Each runs
//! in its own process, which executes one request at a time until its input ends.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::error::{Doing, Error, Result};

/// A Python library that forklore is compared with, and the script that drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// A description of how this library makes a fork.
    pub(crate) fork: &'static str,
    script: &'static str,
    argument: &'static str,
}

/// The Python libraries that forklore is compared with. The tables of results have the same order.
pub(crate) const KINDS: [Kind; 3] = [
    Kind {
        name: "OpenAI SQLiteSession",
        fork: "copy of its items",
        script: "openai_sessions.py",
        argument: "plain",
    },
    Kind {
        name: "OpenAI AdvancedSQLiteSession",
        fork: "`create_branch_from_turn`",
        script: "openai_sessions.py",
        argument: "advanced",
    },
    Kind {
        name: "LangGraph SqliteSaver",
        fork: "`update_state`",
        script: "langgraph_threads.py",
        argument: "sqlite",
    },
];

/// The libraries that store sessions in PostgreSQL.
pub(crate) const ON_POSTGRES: [Kind; 2] = [
    Kind {
        name: "OpenAI SQLAlchemySession",
        fork: "copy of its items",
        script: "openai_sessions.py",
        argument: "sqlalchemy",
    },
    Kind {
        name: "LangGraph PostgresSaver",
        fork: "`update_state`",
        script: "langgraph_threads.py",
        argument: "postgres",
    },
];

/// A running process that uses one of the libraries that forklore is compared with. It has one open
/// session.
pub(crate) struct Peer {
    kind: Kind,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    errors: PathBuf,
}

/// The answer of a peer process (one that uses a compared library) to a request. Fields that the
/// request does not concern are 0.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Answer {
    nanos: u64,
    bytes: u64,
    messages: usize,
}

impl Peer {
    /// Starts a process that uses the library `kind`. Its session has `messages` messages and is in
    /// a file in `dir`.
    pub(crate) fn start(kind: Kind, python: &Path, dir: &Path, messages: usize) -> Result<Self> {
        let file = dir.join(format!("{}.db", kind.argument));
        Self::at(kind, python, dir, file.as_os_str(), messages)
    }

    /// Starts a process as [`start`](Self::start) does. `location` is where the library stores its
    /// sessions: a file, or the URL of a database.
    pub(crate) fn at(
        kind: Kind,
        python: &Path,
        dir: &Path,
        location: &OsStr,
        messages: usize,
    ) -> Result<Self> {
        let errors = dir.join(format!("{}.errors", kind.argument));
        let mut child = Command::new(python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(kind.script))
            .arg(kind.argument)
            .arg(location)
            // Prevents compiled Python files next to the scripts, and network requests for tracing.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("LANGSMITH_TRACING", "false")
            .env("OPENAI_AGENTS_DISABLE_TRACING", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).doing("cannot make", &errors)?)
            .spawn()
            .doing("cannot start", python)?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Wrong(format!("{} has no pipes", kind.name)));
        };
        let answers = BufReader::new(answers);
        let mut peer = Self { kind, child, requests: Some(requests), answers, errors };
        let filled = peer.ask(&format!(r#"{{"do":"fill","messages":{messages}}}"#))?.messages;
        if filled == messages {
            return Ok(peer);
        }
        Err(Error::Wrong(format!("{} holds {filled} messages, not {messages}", kind.name)))
    }

    /// Makes the library create one more fork of the session, and returns the duration.
    pub(crate) fn fork(&mut self) -> Result<Duration> {
        self.time("fork")
    }

    /// Makes the library append one more message, and returns the duration.
    pub(crate) fn append(&mut self) -> Result<Duration> {
        self.time("append")
    }

    /// Makes the library load every message of the session, and returns the duration.
    pub(crate) fn load(&mut self) -> Result<Duration> {
        self.time("load")
    }

    /// Makes the library create a chain of forks, `links` levels deep, with one turn in each. Later
    /// operations use the last fork.
    pub(crate) fn deepen(&mut self, links: usize) -> Result<()> {
        self.ask(&format!(r#"{{"do":"deepen","links":{links}}}"#)).map(drop)
    }

    /// Returns the size in bytes of the file in which the library stores its sessions.
    pub(crate) fn size(&mut self) -> Result<u64> {
        Ok(self.ask(r#"{"do":"size"}"#)?.bytes)
    }

    fn time(&mut self, what: &str) -> Result<Duration> {
        let nanos = self.ask(&format!(r#"{{"do":"{what}"}}"#))?.nanos;
        if nanos > 0 { Ok(Duration::from_nanos(nanos)) } else { Err(self.failed("no time")) }
    }

    fn ask(&mut self, request: &str) -> Result<Answer> {
        let mut line = String::new();
        let sent = self.requests.as_mut().map_or(Ok(()), |pipe| writeln!(pipe, "{request}"));
        // If the peer failed, it wrote the reason to standard error.
        let read = sent.and_then(|()| self.answers.read_line(&mut line));
        match read {
            Ok(1..) => serde_json::from_str(&line).map_err(|_| self.failed(&line)),
            Ok(0) => Err(self.failed("nothing")),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    fn failed(&self, answered: &str) -> Error {
        let errors = std::fs::read_to_string(&self.errors).unwrap_or_default();
        Error::Wrong(format!("{} answered {answered}\n{errors}", self.kind.name))
    }
}

impl Drop for Peer {
    /// Closes the input of the peer process, which makes the process end. Then waits for its end.
    fn drop(&mut self) {
        drop(self.requests.take());
        drop(self.child.wait());
    }
}
