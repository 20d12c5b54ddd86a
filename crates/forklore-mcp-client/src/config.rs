//! The user's configuration of an MCP server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::name::ServerName;

/// The configuration `[tools.NAME]` of an MCP server: either a program to start (`command`), or an
/// address (`url`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// The program to start: a name that is looked up in `PATH`, or an absolute path. `None` if the
    /// server has a `url`.
    pub command: Option<String>,
    /// The program's arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// The names of environment variables that the program inherits, in addition to a few harmless
    /// variables that every program inherits.
    #[serde(default)]
    pub env_from: Vec<String>,
    /// The working directory of the program, as an absolute path. `None` is the current directory.
    pub folder: Option<PathBuf>,
    /// The URL of a server that communicates over streamable HTTP. `None` if the server is a
    /// program.
    pub url: Option<String>,
    /// The additional headers of each request. Maps a header's name to the name of the environment
    /// variable that contains the header's value.
    #[serde(default)]
    pub header_env: BTreeMap<String, String>,
    /// The name of the environment variable that contains a token. Each request sends the token as
    /// `Authorization: Bearer`. `None` sends no token.
    pub token_env: Option<String>,
    /// The maximum time for the start of the server, in seconds. The default is 30.
    pub start_seconds: Option<u64>,
    /// The maximum time that a call may wait without a result or a progress report, in seconds. The
    /// default is 300.
    pub call_seconds: Option<u64>,
    /// The maximum length of the text in a result, in bytes. The default is 131072.
    pub max_output: Option<usize>,
}

/// The reason why the configuration of a server is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[tools.{server}] {wrong}")]
pub struct ConfigError {
    /// The name of the server whose configuration is invalid.
    pub server: ServerName,
    /// What is wrong with the configuration, and how to correct it.
    pub wrong: String,
}

/// The configuration of an MCP server after a check, with defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct ValidConfig {
    pub(crate) connection: Connection,
    pub(crate) start: Duration,
    pub(crate) call: Duration,
    pub(crate) max_output: usize,
}

/// How the client connects to a server.
#[derive(Clone, Debug)]
pub(crate) enum Connection {
    Program { command: String, args: Vec<String>, env_from: Vec<String>, folder: Option<PathBuf> },
    Address { url: String, header_env: BTreeMap<String, String>, token_env: Option<String> },
}

impl ServerConfig {
    /// Checks the configuration of the server with this name, and fills in the defaults.
    pub(crate) fn check(&self, server: &ServerName) -> Result<ValidConfig, ConfigError> {
        let connection = match (&self.command, &self.url) {
            (Some(command), None) => self.program(command),
            (None, Some(url)) => self.address(url),
            _ => Err("needs either `command` or `url`".to_owned()),
        };
        let connection =
            connection.map_err(|wrong| ConfigError { server: server.clone(), wrong })?;
        Ok(ValidConfig {
            connection,
            start: Duration::from_secs(self.start_seconds.unwrap_or(30)),
            call: Duration::from_secs(self.call_seconds.unwrap_or(300)),
            max_output: self.max_output.unwrap_or(128 * 1024),
        })
    }

    /// Checks the configuration of a server that is a program. Refuses relative paths, because with
    /// them the user's current directory would determine which program starts.
    fn program(&self, command: &str) -> Result<Connection, String> {
        if !self.header_env.is_empty() || self.token_env.is_some() {
            return Err("`header_env` and `token_env` go with `url`".to_owned());
        }
        let path = Path::new(command);
        if command.is_empty() || (path.components().count() > 1 && !path.is_absolute()) {
            return Err(
                "`command` must be a name that PATH leads to, or an absolute path".to_owned()
            );
        }
        if self.folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
            return Err("`folder` must be an absolute path".to_owned());
        }
        Ok(Connection::Program {
            command: command.to_owned(),
            args: self.args.clone(),
            env_from: self.env_from.clone(),
            folder: self.folder.clone(),
        })
    }

    fn address(&self, url: &str) -> Result<Connection, String> {
        if !self.args.is_empty() || !self.env_from.is_empty() || self.folder.is_some() {
            return Err("`args`, `env_from` and `folder` go with `command`".to_owned());
        }
        let parsed = reqwest::Url::parse(url).map_err(|why| format!("`url` is none: {why}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err("`url` must begin with https:// or http://".to_owned());
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(
                "`url` must not hold a password: name a variable in `token_env` or `header_env`"
                    .to_owned(),
            );
        }
        let is_sent = !self.header_env.is_empty() || self.token_env.is_some();
        if is_sent && parsed.scheme() == "http" && !is_this_machine(&parsed) {
            return Err(
                "`header_env` and `token_env` would cross the network unencrypted: use https://"
                    .to_owned(),
            );
        }
        let mut named = self.header_env.keys();
        if self.token_env.is_some() && named.any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            return Err("the header Authorization comes from `token_env`, or from `header_env`: \
                        name one of them"
                .to_owned());
        }
        Ok(Connection::Address {
            url: url.to_owned(),
            header_env: self.header_env.clone(),
            token_env: self.token_env.clone(),
        })
    }
}

fn is_this_machine(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
