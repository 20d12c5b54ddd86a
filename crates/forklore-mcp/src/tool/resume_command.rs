//! `resume_command`: the commands with which a person continues a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::Verb;
use crate::refusal::Refusal;
use crate::scope::Access;

pub(super) struct ResumeCommand;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session: an id, a part of an id, a label, a title, or last.
    session: String,
    /// The agent in which to continue, such as claude or codex. Default: the one that wrote the
    /// session.
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    session_id: String,
    /// Writes the session as a new file of the agent, and prints the command that starts the agent
    /// with it. Absent if forklore writes no files of that agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_agent: Option<String>,
    /// Continues the session in forklore's own chat.
    in_forklore: String,
    /// The agents whose files forklore writes.
    agents: Vec<&'static str>,
}

impl Verb for ResumeCommand {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "resume_command";
    const TITLE: &'static str = "Say how to continue a session";
    const DESCRIPTION: &'static str = "Return the command that continues a session, in the agent \
        that wrote it or in another. Use it when the user wants to go back to an earlier session \
        or try a fork: show them the command. It runs nothing and writes nothing.";

    fn run(access: &Access<'_>, input: Input) -> Result<Output, Refusal> {
        let header = access.session(&input.session)?;
        let formats = access.engine.agent_formats().0.iter();
        let written = formats.filter(|format| format.export().is_some());
        let agents: Vec<_> = written.map(|format| format.name()).collect();
        let wanted = input.agent.as_deref().or(header.dialect.as_deref());
        let found = agents.iter().find(|agent| wanted == Some(**agent));
        if input.agent.is_some() && found.is_none() {
            let next = format!("pass agent: one of {}", agents.join(", "));
            return Err(Refusal::invalid("forklore writes no files of this agent", &next));
        }
        Ok(Output {
            session_id: header.id.to_string(),
            in_agent: found
                .map(|agent| access.command(&format!("resume-in {agent} {}", header.id))),
            in_forklore: access.resume(&header.id),
            agents,
        })
    }
}
