//! Codex: its settings and commands.

use std::process::Command;

use crate::agent::{Agent, PROMPT, as_it_is};
use crate::site::Site;

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
        )
    },
    commands: |site, _, id| {
        let mut command = program(site);
        command.args(["resume", id, PROMPT]);
        vec![command]
    },
    ask: Some(|site, question| {
        let mut command = program(site);
        command.arg(question);
        command
    }),
    is_spoken: |text| !OWN.iter().any(|own| text.trim_start().starts_with(own)),
    expected: as_it_is,
    received: as_it_is,
};

fn program(site: &Site) -> Command {
    let program = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    let mut command = site.offline(site.agents.join(program));
    command.env("RUST_LOG", "error").args(["exec", "--skip-git-repo-check"]);
    command
}
