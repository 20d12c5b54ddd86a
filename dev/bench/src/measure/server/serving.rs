//! A server as a process.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::client::Target;
use crate::error::{Doing, Error, Result};
use crate::process::{Program, anonymous_memory};
use crate::scene::Scene;

/// A running server. It is killed when this value is dropped.
pub(super) struct Serving {
    pub(super) target: Target,
    process: RefCell<Child>,
}

/// The line that the server prints when it listens.
#[derive(Deserialize)]
struct Listening {
    url: String,
    token: String,
}

impl Serving {
    /// Starts a server of the store with this URL, and waits until it listens.
    pub(super) fn start(scene: &Scene, store: &str) -> Result<Self> {
        let program = Program::forklore(scene.dir())?;
        let args = ["--store", store, "--all", "serve", "--listen", "127.0.0.1:0", "--json"];
        let mut process = program.start(&args, Stdio::piped())?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line).doing("cannot read", Path::new("serve"))?;
        }
        let process = RefCell::new(process);
        let silent = || Error::Wrong(format!("`forklore serve` printed {line:?}"));
        let listening: Listening = serde_json::from_str(&line).map_err(|_| silent())?;
        let host = listening.url.strip_prefix("http://").ok_or_else(silent)?.into();
        Ok(Self { target: Target { host, token: listening.token.into() }, process })
    }

    /// Returns the anonymous memory of the server in bytes.
    pub(super) fn memory(&self) -> u64 {
        anonymous_memory(self.process.borrow().id()).unwrap_or_default()
    }

    /// Returns the number of threads of the server.
    pub(super) fn threads(&self) -> usize {
        let tasks = format!("/proc/{}/task", self.process.borrow().id());
        std::fs::read_dir(tasks).map_or(0, Iterator::count)
    }

    /// Asks the server to stop, and waits until it has ended well. Returns how long that took.
    pub(super) fn stop(&self) -> Result<Duration> {
        let mut process = self.process.borrow_mut();
        let start = Instant::now();
        let id = process.id().to_string();
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .doing("cannot run", Path::new("kill"))?;
        let status = process.wait().doing("cannot wait for", Path::new("serve"))?;
        match status.success() {
            true => Ok(start.elapsed()),
            false => Err(Error::Wrong(format!("`forklore serve` ended with {status}"))),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let process = self.process.get_mut();
        let _ = process.kill();
        let _ = process.wait();
    }
}
