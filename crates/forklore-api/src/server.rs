//! Types of `serve` and `token`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The line that `serve` prints when it listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listening {
    /// The URL of the server.
    pub url: String,
    /// A token that may do everything. It is valid until the server ends.
    pub token: String,
    /// A link that logs one browser in, once.
    pub link: String,
}

/// What a token of a server may do. Each scope includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read sessions.
    Read,
    /// Also create, fork and append to sessions, and delete them into the trash.
    Write,
    /// Also erase sessions.
    Admin,
}

impl Scope {
    /// Returns the name by which JSON and the program refer to this scope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a string that is not the name of a [`Scope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of read, write, admin")]
pub struct NotAScope;

impl std::str::FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        [Self::Read, Self::Write, Self::Admin]
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or(NotAScope)
    }
}

/// A token that a server accepts. The token itself is stored nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessToken {
    /// The name of the token, which the store records with each operation.
    pub name: String,
    /// What its owner may do.
    pub scope: Scope,
    /// When it was created.
    pub created: Timestamp,
    /// When it stops to be valid. `null` never does.
    pub expires: Option<Timestamp>,
    /// The tenant of the database whose store its owner sees. Absent for the store of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The tokens that a server accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessTokens {
    /// The tokens, the oldest first.
    pub tokens: Vec<AccessToken>,
}

/// A new token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewAccessToken {
    /// What is stored of the token.
    #[serde(flatten)]
    pub stored: AccessToken,
    /// The token itself. It is shown only here.
    pub token: String,
}
