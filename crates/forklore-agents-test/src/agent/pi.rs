//! Pi.

use crate::agent::Agent;
use crate::atoms::Atom;

pub(super) const AGENT: Agent = Agent {
    name: "pi",
    other: "codex",
    prepare: |site| {
        let url = site.url();
        site.write(
            ".pi/agent/models.json",
            &format!(
                r#"{{"providers":{{"mock":{{"baseUrl":"{url}/v1","api":"openai-completions","apiKey":"x","models":[{{"id":"mock-model"}}]}}}}}}"#
            ),
        )
    },
    commands: |site, path, _| {
        let mut command = site.script("@earendil-works/pi-coding-agent/dist/bundle/cli.js");
        command.env("PI_OFFLINE", "1").args(["--provider", "mock", "--model", "mock-model"]);
        command.arg("--session").arg(path).args(["-p", crate::run::PROMPT]);
        vec![command]
    },
    keep: |_| true,
    expected: |atoms| atoms.into_iter().map(inner).collect(),
    received: |atoms| atoms.into_iter().map(inner).collect(),
};

/// A summary or a command without the words around it, which forklore and Pi choose differently.
fn inner(atom: Atom) -> Atom {
    let Atom::User(text) = atom else { return atom };
    let told = text.split_once("<summary>").and_then(|(_, rest)| rest.rsplit_once("</summary>"));
    if let Some((summary, _)) = told {
        return Atom::User(summary.to_owned());
    }
    if let Some((_, summary)) = text.strip_prefix("[Summary of ").and_then(|t| t.split_once("]\n"))
    {
        return Atom::User(summary.to_owned());
    }
    Atom::User(text)
}
