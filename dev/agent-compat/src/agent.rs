//! An agent under test: how to set it up without a network, and how to start it with a session.

use std::path::Path;
use std::process::Command;

use crate::atoms::Atom;
use crate::error::Result;
use crate::site::Site;

/// The prompt that each agent sends after the fork's history.
pub(crate) const PROMPT: &str = "Please go on here.";

/// An agent under test, and how to run it.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The name of another agent. This agent must be able to continue sessions of that agent too.
    pub(crate) other: &'static str,
    /// Writes the settings that make the agent use the fake model.
    pub(crate) prepare: fn(&Site) -> Result<()>,
    /// Returns the commands that send the prompt in a session. The arguments are the session's file
    /// and the agent's name for the session.
    pub(crate) commands: fn(&Site, &Path, &str) -> Vec<Command>,
    /// Checks whether a user text is part of the conversation. Texts about the machine and the date
    /// are not part of it: the agent generates them for every request.
    pub(crate) is_spoken: fn(&str) -> bool,
    /// Converts the pieces that forklore expects into the agent's own wording.
    pub(crate) expected: fn(Vec<Atom>) -> Vec<Atom>,
    /// Removes the agent's own additions from the pieces that it sent.
    pub(crate) received: fn(Vec<Atom>) -> Vec<Atom>,
}

/// Returns the pieces unchanged, for agents without a wording of their own.
pub(crate) fn as_it_is(atoms: Vec<Atom>) -> Vec<Atom> {
    atoms
}
