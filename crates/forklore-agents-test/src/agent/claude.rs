//! Claude Code, as its Agent SDK reads it: the program itself is not started.

use crate::agent::{Agent, as_it_is};

/// Prints the messages of a session as a request would hold them, with the prompt behind them.
const READ: &str = "\
import json, sys
from claude_agent_sdk import get_session_messages
read = get_session_messages(sys.argv[1], directory=sys.argv[2])
said = [m.message for m in read] + [{'role': 'user', 'content': sys.argv[3]}]
print(json.dumps({'path': '/sdk', 'body': {'messages': said}}))
";

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    prepare: |_| Ok(()),
    commands: |site, _, id| {
        let mut command = site.offline(&site.python);
        command.env("PYTHONPATH", site.agents.with_file_name("python"));
        command.args(["-c", READ, id]).arg(&site.project).arg(crate::run::PROMPT);
        vec![command]
    },
    keep: |_| true,
    expected: as_it_is,
    received: as_it_is,
};
