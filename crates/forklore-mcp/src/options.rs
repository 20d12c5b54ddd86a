//! What a server may do, and for which folder it answers.

use std::collections::BTreeSet;
use std::str::FromStr;

use forklore_core::workspace::Workspace;

/// A verb that changes a store, which a server offers only if its [`Options`] allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allow {
    /// `fork`: create another continuation of a session.
    Fork,
    /// `bring`: record in a session what another branch did.
    Bring,
    /// `label`: give a session another label.
    Label,
}

impl Allow {
    /// All verbs that can be allowed.
    pub const ALL: [Self; 3] = [Self::Fork, Self::Bring, Self::Label];

    /// Returns the name of the verb, which is also the name of its tool.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Bring => "bring",
            Self::Label => "label",
        }
    }
}

/// The error for a word that names no verb that can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of fork, bring, label")]
pub struct NotAnAllowance;

impl FromStr for Allow {
    type Err = NotAnAllowance;

    fn from_str(text: &str) -> Result<Self, NotAnAllowance> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == text).ok_or(NotAnAllowance)
    }
}

/// The settings of a server. The default only reads, and looks into all folders.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The verbs that may change the store. Their tools are listed only if they are here.
    pub allow: BTreeSet<Allow>,
    /// The folder whose sessions tools find if a call names no other. `None` finds the sessions of
    /// all folders.
    pub workspace: Option<Workspace>,
    /// The store, as the option `--store` of the suggested commands. `None` suggests commands
    /// without this option.
    pub store: Option<String>,
}
