//! Claude Code, as its Agent SDK reads it: the program itself is not started.

use crate::agent::{Agent, as_it_is};

/// Prints the messages of a session as a request would hold them, with the prompt behind them.
/// What the SDK finds by the session's id has to be what of its chain it shows. Who speaks is the
/// type of a record, which is what the SDK gives, not the role in its message. Of two
/// records with one uuid it begins at the first where the second ends the file, which the next
/// record settles.
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

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    other: "codex",
    prepare: |_| Ok(()),
    commands: |site, path, id| {
        let mut command = site.offline(&site.python);
        command.env("PYTHONPATH", site.agents.with_file_name("python"));
        command.args(["-c", READ, id]).arg(path).arg(&site.project).arg(crate::run::PROMPT);
        vec![command]
    },
    is_spoken: |_| true,
    expected: as_it_is,
    received: as_it_is,
};
