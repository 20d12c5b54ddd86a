//! opencode: its settings and commands.

use std::path::Path;
use std::process::Command;

use crate::agent::{Agent, Hooks, PROMPT};
use crate::atoms::Atom;
use crate::site::Site;
use crate::theirs;

/// The hooks of somebody else, behind the function `add`.
const THEIRS: &str = r#"
export const Theirs = async () => ({
  "chat.message": async () => add("begin"),
  event: async ({ event }) => {
    if (event.type === "session.idle") add("end")
  },
})
"#;

/// The text with which opencode sends the images of tool results to a model that accepts images only
/// in messages of the user.
const MEDIA: &str = "Attached media from tool result:";

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    other: "codex",
    prepare: |site| {
        let url = site.url();
        site.write(
            ".config/opencode/opencode.json",
            &format!(
                r#"{{"model":"mock/mock-model","small_model":"mock/mock-model","autoupdate":false,"share":"disabled","provider":{{"mock":{{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{{"baseURL":"{url}/v1","apiKey":"x"}},"models":{{"mock-model":{{"name":"mock-model","limit":{{"context":100000,"output":4000}},"tool_call":true,"attachment":true,"modalities":{{"input":["text","image"],"output":["text"]}}}}}}}}}}}}"#
            ),
        )?;
        Ok(())
    },
    commands: |site, path, id| {
        let mut import = program(site);
        import.arg("import").arg(path);
        let mut run = program(site);
        run.args(["run", "-m", "mock/mock-model", "-s", id, PROMPT]);
        vec![import, run]
    },
    ask: Some(|site, question| {
        let mut run = program(site);
        run.args(["run", "-m", "mock/mock-model", question]);
        run
    }),
    program,
    turn: |site, prompt, goes_on| {
        let mut run = program(site);
        run.args(["run", "-m", "mock/mock-model"]).args(goes_on.then_some("-c")).arg(prompt);
        run
    },
    theirs: |site| {
        let script = theirs::script(site) + THEIRS;
        site.write(".config/opencode/plugin/theirs.js", &script)
    },
    hooks: Hooks::AfterPrompt,
    is_spoken: |text| text.trim() != MEDIA,
    expected: |atoms| atoms.into_iter().map(summary).collect(),
    received: |atoms| {
        let mut left = atoms.into_iter().peekable();
        let mut atoms = Vec::new();
        while let Some(atom) = left.next() {
            // opencode sends a summary as the model's answer to this question.
            let asks = matches!(&atom, Atom::User(text) if text == "What did we do so far?");
            match left.next_if(|next| asks && matches!(next, Atom::Assistant(_))) {
                Some(Atom::Assistant(summary)) => atoms.push(Atom::User(summary)),
                _ => atoms.push(self::summary(atom)),
            }
        }
        atoms
    },
};

fn summary(atom: Atom) -> Atom {
    match atom {
        Atom::User(text) => {
            let summary = text.strip_prefix("[Summary of the conversation so far]\n");
            Atom::User(summary.unwrap_or(&text).to_owned())
        }
        atom => atom,
    }
}

fn program(site: &Site) -> Command {
    let mut command = site.offline(site.agents.join(Path::new("opencode-linux-x64/bin/opencode")));
    for name in ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD"] {
        command.env(format!("OPENCODE_DISABLE_{name}"), "1");
    }
    command
}
