//! Pi: its settings and commands.

use std::process::Command;

use crate::agent::{Agent, Hooks, PROMPT};
use crate::atoms::Atom;
use crate::site::Site;
use crate::theirs;

/// The hooks of somebody else, behind the function `add`.
const THEIRS: &str = r#"
export default function (pi) {
  pi.on("before_agent_start", async () => add("begin"))
  pi.on("agent_end", async () => add("end"))
}
"#;

/// The text with which Pi sends the images of tool results, as a message of the user.
const MEDIA: &str = "Attached image(s) from tool result:";

pub(super) const AGENT: Agent = Agent {
    name: "pi",
    other: "codex",
    prepare: |site| {
        let url = site.url();
        site.write(
            ".pi/agent/models.json",
            &format!(
                r#"{{"providers":{{"mock":{{"baseUrl":"{url}/v1","api":"openai-completions","apiKey":"x","models":[{{"id":"mock-model","input":["text","image"]}}]}}}}}}"#
            ),
        )?;
        Ok(())
    },
    commands: |site, path, _| {
        let mut command = program(site);
        command.arg("--session").arg(path).args(["-p", PROMPT]);
        vec![command]
    },
    ask: None,
    program,
    turn: |site, prompt, goes_on| {
        let mut command = program(site);
        command.args(goes_on.then_some("-c")).args(["-p", prompt]);
        command
    },
    theirs: |site| {
        let script = theirs::script(site) + THEIRS;
        site.write(".pi/agent/extensions/theirs.js", &script)
    },
    hooks: Hooks::BeforePrompt,
    is_spoken: |text| text.trim() != MEDIA,
    expected: |atoms| thought_aloud(atoms).into_iter().map(inner).collect(),
    received: |atoms| answering(atoms).into_iter().map(inner).collect(),
};

/// Converts reasoning into assistant text, because Pi sends the reasoning of another model as such
/// text. Joins it with the assistant text that follows.
fn thought_aloud(atoms: Vec<Atom>) -> Vec<Atom> {
    let mut left = atoms.into_iter().peekable();
    let mut summaries = Vec::new();
    while let Some(atom) = left.next() {
        let Atom::Reasoning(mut text) = atom else {
            summaries.push(atom);
            continue;
        };
        if text.trim().is_empty() {
            continue;
        }
        if let Some(Atom::Assistant(message)) =
            left.next_if(|next| matches!(next, Atom::Assistant(_)))
        {
            text.push_str(&message);
        }
        summaries.push(Atom::Assistant(text));
    }
    summaries
}

/// Removes the tool results of a request for which the request contains no preceding call. A
/// summary may have replaced the call. Pi sends such results if they exist, and providers reject
/// them; but Pi itself never cuts a history between a call and its result.
fn answering(mut atoms: Vec<Atom>) -> Vec<Atom> {
    let mut open = 0_usize;
    atoms.retain(|atom| match atom {
        Atom::Call { .. } => {
            open += 1;
            true
        }
        Atom::Result { .. } => {
            let is_called = open > 0;
            open = open.saturating_sub(1);
            is_called
        }
        _ => true,
    });
    atoms
}

/// Removes the introductory text from a piece that contains a summary. This text differs between
/// forklore and Pi. Returns other pieces unchanged.
fn inner(atom: Atom) -> Atom {
    let Atom::User(text) = atom else { return atom };
    let summaries =
        text.split_once("<summary>").and_then(|(_, rest)| rest.rsplit_once("</summary>"));
    if let Some((summary, _)) = summaries {
        return Atom::User(summary.to_owned());
    }
    if let Some((_, summary)) = text.strip_prefix("[Summary of ").and_then(|t| t.split_once("]\n"))
    {
        return Atom::User(summary.to_owned());
    }
    Atom::User(text)
}

fn program(site: &Site) -> Command {
    let mut command = site.script("@earendil-works/pi-coding-agent/dist/bundle/cli.js");
    command.env("PI_OFFLINE", "1").args(["--provider", "mock", "--model", "mock-model"]);
    command
}
