//! Which sessions a call looks at, and how it names one.

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_engine::{Engine, Scope};

use crate::options::Options;
use crate::refusal::Refusal;

/// What a tool needs to answer a call.
pub(crate) struct Access<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) options: &'a Options,
}

impl Access<'_> {
    /// Returns the folder to look at. `None` means all folders.
    pub(crate) fn folder(&self, workspace: Option<&str>, everywhere: bool) -> Option<Workspace> {
        match workspace {
            _ if everywhere => None,
            Some(path) => Some(Workspace::new(path)),
            None => self.options.workspace.clone(),
        }
    }

    /// Returns the session that `reference` names: an id or a part of it, a label, a title, `last`.
    pub(crate) fn session(&self, reference: &str) -> Result<Header, Refusal> {
        let scope = Scope { workspace: self.options.workspace.clone() };
        Ok(self.engine.resolve(reference, &scope)?)
    }

    /// Returns the beginning of a command line of forklore, with the store that it must name.
    pub(crate) fn command(&self, rest: &str) -> String {
        let store = self.options.store.as_deref().map(forklore_sanitize::shell::quoted);
        let store = store.map(|store| format!(" --store {store}")).unwrap_or_default();
        format!("forklore{store} {rest}")
    }

    /// Returns the command with which a person continues a session in forklore's own chat.
    pub(crate) fn resume(&self, session: &SessionId) -> String {
        self.command(&format!("resume {session}"))
    }
}
