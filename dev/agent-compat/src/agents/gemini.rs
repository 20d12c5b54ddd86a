//! Gemini CLI: its settings and commands.

use std::process::Command;

use serde_json::{Value, json};

use crate::agent::{Agent, Hooks, PROMPT, as_it_is};
use crate::atoms::Atom;
use crate::site::Site;
use crate::theirs;

/// The file with the settings.
const SETTINGS: &str = ".gemini/settings.json";

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    other: "pi",
    prepare: |site| {
        site.write(SETTINGS, &settings().to_string())?;
        Ok(())
    },
    commands: |site, _, id| {
        let mut command = program(site);
        command.args(["--skip-trust", "-r", id]);
        command.args(["-p", PROMPT]);
        vec![command]
    },
    ask: None,
    program,
    turn: |site, prompt, goes_on| {
        let mut command = program(site);
        command.args(["--skip-trust", "--yolo"]);
        command.args(goes_on.then_some(["-r", "latest"]).into_iter().flatten());
        command.args(["-p", prompt]);
        command
    },
    theirs: |site| {
        let mut settings = settings();
        if let Some(settings) = settings.as_object_mut() {
            let hooks = theirs::settings(site, ["BeforeAgent", "AfterAgent"]);
            settings.insert("hooks".to_owned(), hooks);
        }
        site.write(SETTINGS, &format!("{settings:#}\n"))
    },
    hooks: Hooks::BeforePrompt,
    is_spoken: |text| !text.trim_start().starts_with("<session_context>"),
    expected: as_it_is,
    received: |atoms| atoms.into_iter().filter(|atom| *atom != interrupted()).collect(),
};

/// Returns the assistant text that Gemini CLI inserts when tool results are not followed by an
/// answer.
fn interrupted() -> Atom {
    Atom::Assistant("[The previous response was interrupted before it completed.]".to_owned())
}

/// Returns the settings, under the names that Gemini CLI has now: it writes the file anew if it finds
/// earlier ones.
fn settings() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
}

fn program(site: &Site) -> Command {
    let mut command = site.script("@google/gemini-cli/bundle/gemini.js");
    command.env("GEMINI_API_KEY", "x").env("GOOGLE_GEMINI_BASE_URL", site.url());
    command.args(["-m", "gemini-2.5-flash"]);
    command
}
