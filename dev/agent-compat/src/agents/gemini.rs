//! Gemini CLI: its settings and commands.

use crate::agent::{Agent, PROMPT, as_it_is};
use crate::atoms::Atom;

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    other: "pi",
    prepare: |site| {
        site.write(
            ".gemini/settings.json",
            r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}"#,
        )
    },
    commands: |site, _, id| {
        let mut command = site.script("@google/gemini-cli/bundle/gemini.js");
        command.env("GEMINI_API_KEY", "x").env("GOOGLE_GEMINI_BASE_URL", site.url());
        command.args(["-m", "gemini-2.5-flash", "--skip-trust", "-r", id]);
        command.args(["-p", PROMPT]);
        vec![command]
    },
    ask: None,
    is_spoken: |text| !text.trim_start().starts_with("<session_context>"),
    expected: as_it_is,
    received: |atoms| atoms.into_iter().filter(|atom| *atom != interrupted()).collect(),
};

/// Returns the assistant text that Gemini CLI inserts when tool results are not followed by an
/// answer.
fn interrupted() -> Atom {
    Atom::Assistant("[The previous response was interrupted before it completed.]".to_owned())
}
