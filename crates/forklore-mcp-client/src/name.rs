//! The names of servers and tools, and the combined name by which a model calls a tool.

use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The maximum length in bytes of a tool name that every model provider accepts.
const LONGEST: usize = 64;

/// The separator between the names of server and tool. No server's name contains the separator, so
/// the first separator in a combined name ends the server's name.
const BETWEEN: &str = "__";

/// The name of a server: 1 to 32 ASCII letters, digits, `-` and `_`, beginning and ending with a
/// letter or digit, without two consecutive `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct ServerName(String);

/// The error for text that cannot be the name of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tool server's name is 1 to 32 letters, digits, `-` and `_`, begins and ends with a letter \
     or digit, and has no two `_` in a row"
)]
pub struct NameError;

impl TryFrom<String> for ServerName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let fits = (1..=32).contains(&name.len())
            && name.chars().all(is_plain)
            && !name.contains(BETWEEN)
            && ends(name.chars().next())
            && ends(name.chars().next_back());
        if fits { Ok(Self(name)) } else { Err(NameError) }
    }
}

impl std::str::FromStr for ServerName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        name.to_owned().try_into()
    }
}

impl ServerName {
    /// Returns the name of the server as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool of a server: the server's name, and the server's own name for the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qualified {
    /// The name of the server that offers the tool.
    pub server: ServerName,
    /// The server's name for the tool, which may be any text.
    pub tool: String,
}

impl Qualified {
    /// Returns the name by which a model calls the tool. It is `server__tool` if every model
    /// provider accepts that name. Otherwise, `_` replaces each character that is not accepted, the
    /// name is cut, and `_` and six hexadecimal digits are appended. The result has at most 64
    /// characters. The digits are derived from the names of the server and the tool, so that
    /// different tools get different names.
    #[must_use]
    pub fn called(&self) -> String {
        let plain = format!("{}{BETWEEN}{}", self.server, self.tool);
        if plain.len() <= LONGEST && !self.tool.is_empty() && plain.chars().all(is_plain) {
            return plain;
        }
        let digest = Sha256::digest(plain.as_bytes());
        let digits: String = digest.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
        let readable = plain.chars().map(|c| if is_plain(c) { c } else { '_' });
        let prefix: String = readable.take(LONGEST - digits.len() - 1).collect();
        format!("{prefix}_{digits}")
    }
}

/// Formats the tool as `server.tool`, the form that policies use.
impl fmt::Display for Qualified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.server, self.tool)
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
