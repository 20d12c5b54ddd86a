//! Tests whether real agents find and fork an earlier session of theirs with forklore's MCP server,
//! which `forklore install mcp` adds to their settings.

use std::process::Command;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::mock::Mock;
use crate::output;
use crate::setting::Setting;
use crate::site::Site;
use crate::store::{Store, run};

/// What the user asks first, in the session that is to be found. The agent has no tools of forklore
/// then.
const FIRST: &str = "Plan the lighthouse";
/// What the user asks in a later session. The fake model uses forklore's tools whatever it is asked.
const SECOND: &str = "Find the earlier session about the tower by the sea and fork it";

/// Tests those of the agents that can call tools of MCP servers on the fake model, one after the
/// other: each starts several programs that need a whole processor. Returns whether each of them
/// created a fork.
pub(crate) fn all(setting: &Setting, agents: &[&'static Agent]) -> Result<bool> {
    let mut is_well = true;
    for agent in agents {
        if let Some(ask) = agent.ask {
            is_well &= one(agent, ask, setting)?;
        }
    }
    Ok(is_well)
}

/// Tests one agent, and prints the id of the fork, or what is wrong with the store afterwards and what
/// the programs printed. Returns whether there is a fork.
fn one(agent: &Agent, ask: fn(&Site, &str) -> Command, setting: &Setting) -> Result<bool> {
    let mock = Mock::start()?;
    let folder = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let site = Site::new(folder.path(), setting, mock.port)?;
    (agent.prepare)(&site)?;
    let store = Store { site: &site, setting };
    let mut printed = run(ask(&site, FIRST))?;
    printed += &run(store.command(&["import"]))?;
    let allowed = ["install", "mcp", agent.name, "--allow", "fork", "--yes"];
    printed += &run(store.command(&allowed))?;
    printed += &run(ask(&site, SECOND))?;
    let outcome = store.forked(agent).map_err(|why| format!("  {why}; printed:\n{printed}"));
    output::recalled(agent.name, &outcome);
    Ok(outcome.is_ok())
}

impl Store<'_> {
    /// Returns the id of the fork, if the store has only the session in which the user asked the first
    /// question, and a fork of it after its first turn.
    fn forked(&self, agent: &Agent) -> Result<String, String> {
        let tree = self.lines(&["tree", "--all", "--flat"])?;
        let [root, fork] = tree.as_slice() else {
            return Err(format!("not a session and its fork: {tree:?}"));
        };
        let (parent, id) = (word(root, "session_id"), word(fork, "session_id"));
        let turn = fork.pointer("/cut/turn");
        if word(fork, "parent_session_id") != parent || turn != Some(&json!(1)) {
            return Err(format!("no fork of {parent} after its first turn: {tree:?}"));
        }
        for session in [parent, id] {
            let log = json!(self.lines(&["log", session])?).to_string();
            if !log.contains(FIRST) || log.contains(SECOND) {
                return Err(format!("{session} is not {}'s first session: {log}", agent.name));
            }
        }
        Ok(id.to_owned())
    }
}

fn word<'a>(session: &'a Value, name: &str) -> &'a str {
    session.get(name).and_then(Value::as_str).unwrap_or_default()
}
