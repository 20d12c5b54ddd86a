//! Claude Code: its Agent SDK reads the files, and runs the Claude Code that it contains when an
//! earlier session is looked for.

use std::process::Command;

use serde_json::json;

use crate::agent::{Agent, Hooks, PROMPT, as_it_is};
use crate::site::Site;
use crate::theirs;

/// A Python script that prints the messages of a session as in a request, followed by the prompt.
/// The script reads the session's file in two ways with Claude's Agent SDK: by the session id, and
/// record by record along the chain of parent records. It fails unless both ways yield the same
/// visible messages.
///
/// The role of a message is the type of its record, as the SDK reports it, and not the role in the
/// record's message. If the last record repeats an earlier uuid, the SDK would begin the chain at
/// the earlier record. The next record that Claude Code writes would resolve this, so the script
/// appends such a record.
const READ: &str = "\
import json, sys
from claude_agent_sdk import get_session_messages
from claude_agent_sdk._internal import sessions
name, path, folder, prompt = sys.argv[1:]
with open(path, encoding='utf-8') as file:
    entries = sessions._parse_transcript_entries(file.read())
chain = sessions._build_conversation_chain(entries)
shown = [entry for entry in chain if sessions._is_visible_message(entry)]
found = get_session_messages(name, directory=folder)
if [entry['uuid'] for entry in shown] != [message.uuid for message in found]:
    sys.exit(f'{len(found)} messages were found, {len(shown)} stand in the file')
if [entry['uuid'] for entry in entries].count(entries[-1]['uuid']) > 1:
    entries.append({'type': 'user', 'uuid': 'next', 'parentUuid': entries[-1]['uuid']})
    chain = sessions._build_conversation_chain(entries)
said = [{'role': entry['type'], 'content': entry['message'].get('content')}
        for entry in chain if entry['type'] in ('user', 'assistant') and entry.get('message')]
said.append({'role': 'user', 'content': prompt})
print(json.dumps({'path': '/sdk', 'body': {'messages': said}}))
";

/// A Python script that asks Claude Code a question with the settings of its user.
const ASK: &str = "\
import asyncio, sys
from claude_agent_sdk import query, ClaudeAgentOptions
options = ClaudeAgentOptions(allowed_tools=['mcp__forklore__search', 'mcp__forklore__fork'],
                             setting_sources=['user'], model='mock-model', max_turns=6)
async def ask():
    async for message in query(prompt=sys.argv[1], options=options):
        print(message)
asyncio.run(ask())
";

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    other: "codex",
    prepare: |_| Ok(()),
    commands: |site, path, id| {
        let mut command = site.offline(&site.python);
        command.env("PYTHONPATH", site.agents.with_file_name("python"));
        command.args(["-c", READ, id]).arg(path).arg(&site.project).arg(PROMPT);
        vec![command]
    },
    ask: Some(|site, question| {
        let mut command = site.offline(&site.python);
        command.env("PYTHONPATH", site.agents.with_file_name("python"));
        command.envs([("ANTHROPIC_BASE_URL", site.url()), ("ANTHROPIC_API_KEY", "x".to_owned())]);
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        // Otherwise the first request may be sent before the server has answered, and tools of
        // servers are offered only after the model has searched for them.
        command.envs([("MCP_CONNECTION_NONBLOCKING", "false"), ("ENABLE_TOOL_SEARCH", "false")]);
        command.args(["-c", ASK, question]);
        command
    }),
    program,
    turn: |site, prompt, goes_on| {
        let mut command = program(site);
        command.arg("--dangerously-skip-permissions");
        command.args(goes_on.then_some("--continue")).args(["-p", prompt]);
        command
    },
    theirs: |site| {
        let hooks = theirs::settings(site, ["UserPromptSubmit", "Stop"]);
        site.write(".claude/settings.json", &format!("{:#}\n", json!({"hooks": hooks})))
    },
    hooks: Hooks::AfterPrompt,
    is_spoken: |_| true,
    expected: as_it_is,
    received: as_it_is,
};

fn program(site: &Site) -> Command {
    let inside = "python/claude_agent_sdk/_bundled/claude";
    let mut command = site.offline(site.agents.with_file_name(inside));
    command.envs([("ANTHROPIC_BASE_URL", site.url()), ("ANTHROPIC_API_KEY", "x".to_owned())]);
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    // As root, Claude Code allows everything only in a sandbox.
    command.env("IS_SANDBOX", "1").env("ANTHROPIC_MODEL", "mock-model");
    command
}
