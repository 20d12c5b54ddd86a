//! Codex: its settings and commands.

use std::process::Command;

use serde_json::json;

use crate::agent::{Agent, Hooks, PROMPT, as_it_is};
use crate::site::Site;
use crate::theirs;

/// The beginnings of texts that Codex itself adds to a request, with the role `user`. These texts
/// describe Codex and its environment.
const OWN: [&str; 4] =
    ["<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions instructions>"];

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    other: "pi",
    prepare: |site| {
        let url = site.url();
        site.write(
            ".codex/config.toml",
            &format!(
                "check_for_update_on_startup = false\nmodel = \"mock-model\"\n\
                 model_provider = \"mock\"\n[analytics]\nenabled = false\n\
                 [model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\n\
                 wire_api = \"responses\"\n"
            ),
        )?;
        Ok(())
    },
    commands: |site, _, id| {
        let mut command = exec(site);
        command.args(["resume", id, PROMPT]);
        vec![command]
    },
    ask: Some(|site, question| {
        let mut command = exec(site);
        command.arg(question);
        command
    }),
    program,
    turn: |site, prompt, goes_on| {
        let mut command = exec(site);
        // Codex runs hooks of its settings only if the user has looked at them before.
        command.args([
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
        ]);
        command.args(goes_on.then_some(["resume", "--last"]).into_iter().flatten()).arg(prompt);
        command
    },
    theirs: |site| {
        let hooks = theirs::settings(site, ["UserPromptSubmit", "Stop"]);
        site.write(".codex/hooks.json", &format!("{:#}\n", json!({"hooks": hooks})))
    },
    hooks: Hooks::AtEnd,
    is_spoken: |text| !OWN.iter().any(|own| text.trim_start().starts_with(own)),
    expected: as_it_is,
    received: as_it_is,
};

fn program(site: &Site) -> Command {
    let program = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    let mut command = site.offline(site.agents.join(program));
    command.env("RUST_LOG", "error");
    command
}

fn exec(site: &Site) -> Command {
    let mut command = program(site);
    command.args(["exec", "--skip-git-repo-check"]);
    command
}
