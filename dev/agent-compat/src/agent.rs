//! An agent under test: how to set it up without a network, and how to start it with a session.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::atoms::Atom;
use crate::error::Result;
use crate::site::Site;

/// The prompt that each agent sends after the fork's history.
pub(crate) const PROMPT: &str = "Please go on here.";

/// An agent under test: how to run it, and how to interpret its requests.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The name of another agent. The agent under test must also be able to continue sessions that
    /// the other agent wrote.
    pub(crate) other: &'static str,
    /// Writes the agent's settings, which make the agent use a fake model on this machine.
    pub(crate) prepare: fn(&Site) -> Result<()>,
    /// Returns the commands that make the agent continue a session with the test prompt. The last
    /// two arguments are the path of the session's file and the name that the agent uses for the
    /// session.
    pub(crate) commands: fn(&Site, &Path, &str) -> Vec<Command>,
    /// Returns the command that asks the agent a question in a new session. `None` if the agent is not
    /// tested with forklore's MCP server.
    pub(crate) ask: Option<fn(&Site, &str) -> Command>,
    /// Returns the agent's program, with what makes it use the fake model.
    pub(crate) program: fn(&Site) -> Command,
    /// Returns the command with which the agent answers a prompt without a person and may do everything:
    /// in a new session, or, if the last argument is `true`, in its last one.
    pub(crate) turn: fn(&Site, &str, bool) -> Command,
    /// Gives the agent [hooks of somebody else](crate::theirs). Returns the file with them.
    pub(crate) theirs: fn(&Site) -> Result<PathBuf>,
    pub(crate) hooks: Hooks,
    /// Checks whether a text with the role `user` is part of the conversation. Texts about the
    /// machine and the date are not part of it: the agent generates them for every request.
    pub(crate) is_spoken: fn(&str) -> bool,
    /// Converts the expected conversation into what this agent sends. The input is the conversation
    /// according to forklore, as a list of pieces; the agent words some pieces differently.
    pub(crate) expected: fn(Vec<Atom>) -> Vec<Atom>,
    /// Removes what this agent adds to a conversation when it sends a request. The input is the
    /// conversation in the agent's request, as a list of pieces.
    pub(crate) received: fn(Vec<Atom>) -> Vec<Atom>,
}

/// When the hooks of forklore run in a turn of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// Before the time of the prompt in the agent's file, and at the end.
    BeforePrompt,
    /// After the time of the prompt in the agent's file, and at the end.
    AfterPrompt,
    /// At the end only.
    AtEnd,
}

/// Returns the pieces of a conversation unchanged. Used for agents whose requests consist of the
/// same pieces as forklore's messages.
pub(crate) fn as_it_is(atoms: Vec<Atom>) -> Vec<Atom> {
    atoms
}
