//! Snapshots of the exact `--json` output of every command, except for ids and times. Later
//! versions must not change this output, because scripts rely on it.

use std::fmt::Write;

use serde_json::json;

use crate::answers;
use crate::discover::sample;
use crate::endpoint::Endpoint;
use crate::sandbox::{FILTERS, Ran, Sandbox, WORKSPACE, ran};

/// Patterns of values, other than ids and times, that differ between machines and runs, with their
/// replacements.
const MACHINE: &[(&str, &str)] = &[
    (r"\d{16}@", "[micros]@"),
    (r#""(freed_bytes|store_bytes)":\d+"#, r#""$1":[bytes]"#),
    (r#""seconds":[\d.]+"#, r#""seconds":[seconds]"#),
    (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d{3}Z)?", "[time]"),
    (r"sessions/\d{4}/\d\d/\d\d", "sessions/[date]"),
    (r"--id [0-9a-f-]{36}", "--id [uuid]"),
    (r"fork-[0-9a-f]{4,12}\b", "fork-[hex]"),
    (r"127\.0\.0\.1:\d+", "[address]"),
    (r"(forklore|SQLite|Oxigraph) \d+\.\d+\.\d+", "$1 [version]"),
    (r"\d+\.\d kB\b", "[size]"),
    (r#"\{"name":"(file_system|space)"[^}]*\}"#, r#"{"name":"$1",[machine]}"#),
];

macro_rules! snapshot {
    ($scene:expr) => {
        insta::with_settings!({
            omit_expression => true,
            filters => [MACHINE, FILTERS].concat(),
        }, { insta::assert_snapshot!($scene.text) })
    };
}

/// A sequence of commands and their output.
struct Scene {
    sandbox: Sandbox,
    text: String,
}

impl Scene {
    fn new(sandbox: Sandbox) -> Self {
        Self { sandbox, text: String::new() }
    }

    /// Creates a family: a session with two turns, a branch with another answer, and a delegate.
    fn family() -> Self {
        let sandbox = Sandbox::with_a_plan();
        sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
        sandbox.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\"}}\n");
        sandbox.ok(&["fork", "plan-1", "--kind", "delegate", "--id", "aide", "--label", "aide"]);
        Self::new(sandbox)
    }

    fn write(&mut self, words: &[&str], ran: &Ran) {
        assert_eq!(ran.err, "", "{words:?}");
        let out = ran.out.replace(self.sandbox.path().to_str().unwrap(), "[dir]");
        writeln!(self.text, "$ {}\n{out}[{}]", words.join(" "), ran.code).unwrap();
    }

    /// Runs a command with `--json`, and appends the command and its output to `text`.
    fn run(&mut self, words: &[&str]) -> &mut Self {
        let mut command =
            self.sandbox.command(&[&["--workspace", WORKSPACE, "--json"], words].concat());
        command.env("FORKLORE_CONFIG", self.sandbox.path().join("config.toml"));
        let ran = ran(command);
        answers::are_of_the_contract(words, &ran.out);
        self.write(words, &ran);
        self
    }

    fn feed(&mut self, words: &[&str], input: &str) -> &mut Self {
        let ran = self.sandbox.feed(&[&["--json"], words].concat(), input);
        self.write(words, &ran);
        self
    }

    fn all(&mut self, lines: &[&str]) -> &mut Self {
        for line in lines {
            self.run(&line.split(' ').collect::<Vec<_>>());
        }
        self
    }
}

#[test]
fn sessions_are_made_written_and_listed() {
    let mut scene = Scene::new(Sandbox::new());
    let event = r#"{"type":"x.mark","class":"evidence","id":"mark-1","ts":"2026-01-02T03:04:05Z","data":{"a":1.50}}"#;
    scene.run(&["new", "--id", "plan-1", "--title", "Plan it", "--metadata", "{\"n\":1.0}"]);
    scene.all(&[
        "new --id plan-2 --principal alice",
        "append plan-1 --text hello",
        "append plan-1 --type assistant_message --text hi --expect 0",
    ]);
    scene.feed(&["append", "plan-1", "--expect", "1"], event);
    scene.feed(&["append", "plan-1", "--expect", "1"], event);
    scene.all(&[
        "show plan-1",
        "list",
        "list --limit 1",
        "list --kind root --since 1h",
        "label plan-1 trunk",
        "rename plan-1 Again",
        "log plan-1",
        "log plan-1 --from 1 --to 1",
        "stats",
        "stats plan-1",
        "stats --models",
        "verify",
        "verify plan-1",
        "doctor",
    ]);
    snapshot!(scene);
}

#[test]
fn forks_are_planned_made_and_found_again() {
    let mut scene = Scene::family();
    scene.all(&[
        "fork plan-1 --at turn:1 --id plan-c --dry-run",
        "fork plan-1 --at turn:1 --id plan-c",
        "fork plan-1 --at turn:1 --id plan-c",
        "fork plan-1 --id plan-d --tool-calls remove --strategy replay_v1 --label d --title D",
        "fork plan-1 --id plan-e --summarize --permissions read,write --principal bob",
        "fork plan-1 --id aide-2 --kind delegate",
        "show plan-d",
        "show plan-e",
        "tree plan-1",
        "tree --depth 1",
        "tree --flat",
        "branches plan-1",
        "branches plan-1 --limit 1",
        "lineage plan-b",
        "lineage plan-1 --children --limit 2",
        "diff plan-1 plan-b",
        "stats plan-b",
        "stats plan-b --family",
        "log plan-e --own",
    ]);
    snapshot!(scene);
}

#[test]
fn histories_are_read() {
    let mut scene = Scene::family();
    scene.all(&[
        "replay plan-b",
        "replay plan-1 --up-to message:2",
        "inspect plan-1",
        "inspect plan-b",
        "bring plan-b --into plan-1 --dry-run",
        "bring plan-b --into plan-1",
        "bring plan-b --into plan-1",
        "inspect plan-1",
        "tree plan-1",
        "export plan-1 --to plain",
        "export plan-1 --to plain -o plain.jsonl",
    ]);
    snapshot!(scene);
}

#[test]
fn sessions_are_detached_and_deleted() {
    let mut scene = Scene::family();
    scene.all(&[
        "delete plan-1",
        "delete plan-1 --cascade --dry-run",
        "detach plan-b",
        "detach plan-b",
        "delete plan-1 --dry-run",
        "delete plan-1",
        "show plan-1",
        "lineage plan-b",
        "tree",
        "gc",
        "pack --idle-days 0",
        "verify",
    ]);
    snapshot!(scene);
}

#[test]
fn attachments_are_added_listed_and_given_back() {
    let mut scene = Scene::new(Sandbox::with_a_plan());
    scene.sandbox.file("note.txt", "some text\n");
    scene.all(&[
        "attach plan-1 note.txt --text look",
        "attach plan-1 note.txt --name other.txt --type text/markdown",
        "attach plan-1",
        "attach plan-1 --get note.txt -o back.txt",
        "attach plan-1 --get nothing",
        "verify",
    ]);
    snapshot!(scene);
}

#[test]
fn files_of_agents_are_imported_restored_and_written() {
    let mut scene = Scene::new(Sandbox::with_default_store());
    sample(&scene.sandbox, "pi/sessions", ".pi/agent/sessions");
    sample(&scene.sandbox, "amplifier/projects", ".amplifier/projects");
    scene.all(&[
        "import --discover",
        "import home/.amplifier/projects",
        "import home/.amplifier/projects",
        "import --discover",
        "import no/such/file",
        "restore 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b --list",
        "restore 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b -o one.jsonl",
        "restore 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b --all -o all",
        "export 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b --to claude -o claude.jsonl",
        "resume-in pi 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b --dry-run",
        "resume-in codex 1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b --home there",
        "verify --repair sqlite:saved.db",
    ]);
    snapshot!(scene);
}

#[test]
fn words_are_found() {
    let mut scene = Scene::family();
    scene.run(&["search", "plan"]);
    scene.run(&["search", "nowhere"]);
    scene.run(&["search", "regex:("]);
    scene.run(&["blame", "plan.md"]);
    scene.run(&["blame", "nothing.md"]);
    snapshot!(scene);
}

#[cfg(feature = "graph")]
#[test]
fn graphs_are_written_and_queried() {
    let mut scene = Scene::family();
    let forks = "SELECT ?child ?index { ?child fl:forkedAtIndex ?index } ORDER BY ?child";
    scene.run(&["sparql", forks]);
    scene.run(&["sparql", "ASK { ?a fl:role ?b }"]);
    scene.run(&["sparql", "SELECT nonsense"]);
    scene.run(&["sparql", "CONSTRUCT { ?c fl:branch ?l } WHERE { ?c fl:branch ?l } LIMIT 1"]);
    scene.run(&["sparql", "CONSTRUCT { ?c a fl:Nothing } WHERE { ?c a fl:Nothing }"]);
    scene.run(&["graph", "plan-b", "--format", "nquads", "-o", "plan.nq"]);
    snapshot!(scene);
}

#[test]
fn conversations_and_explorations_answer() {
    let endpoint = Endpoint::echo();
    let mut scene = Scene::new(Sandbox::with_a_plan());
    let model = endpoint.model("one");
    scene.sandbox.file("config.toml", &format!("default_model = \"one\"\n{model}"));
    scene.run(&["explore", "plan-1", "go on", "-n", "1", "--label", "way"]);
    scene.run(&["inspect", "plan-1", "--request", "--fork", "turn:1", "--no-tools"]);
    scene.run(&["chat", "-p", "hello"]);
    scene.run(&["resume", "last", "-p", "again"]);
    snapshot!(scene);
}

#[test]
fn refusals_have_their_kind_their_facts_and_what_to_do() {
    let mut scene = Scene::family();
    let far = scene.sandbox.path().join("far.db");
    std::fs::write(&far, "this is a letter, not a store\n".repeat(100)).unwrap();
    scene.sandbox.ok(&["fork", "plan-b", "--id", "bound", "--permissions", "read"]);
    scene.all(&[
        "show nobody",
        "show @nobody",
        "show plan-",
        "fork plan-1 --at turn:9",
        "fork plan-1 --at nonsense",
        "fork plan-1 --tool-calls error",
        "fork plan-b --id plan-1",
        "fork bound --permissions read,shell",
        "append plan-1 --expect 3 --text x",
        "append plan-1 --data {",
        "append plan-1 --type session_fork --data {}",
        "append ./plan-1 --text x",
        "new --id PLAN-1",
        "label bound plan-b",
        "label plan-1 last",
        "rename nobody Plan",
        "replay plan-1 --speed 0",
        "replay plan-1 --up-to message:99",
        "list --since yesterday",
        "list --after nonsense",
        "export plan-1 --to nobody",
        "restore plan-1",
        "resume-in nobody plan-1",
        "chat -p hello",
        "--store nonsense list",
        "--store sqlite:far.db list",
        "fork plan-1 --nonsense",
        "nonsense",
    ]);
    snapshot!(scene);
}

#[test]
fn scripts_and_pages_are_answers_too() {
    let sandbox = Sandbox::new();
    for (words, field) in
        [(&["completions", "bash"][..], "script"), (&["man"], "text"), (&["man", "fork"], "text")]
    {
        let answer = sandbox.json(words);
        assert_eq!((&answer["ok"], answer[field].is_string()), (&json!(true), true), "{words:?}");
    }
    let written = sandbox.json(&["man", "--out", "pages"]);
    let names: Vec<_> = written.as_object().unwrap().keys().collect();
    assert_eq!(names, ["dir", "ok", "pages"]);
}

#[test]
fn commands_to_type_next_name_the_store_that_was_named() {
    let sandbox = Sandbox::with_a_plan();
    let url = format!("files:{}", sandbox.path().join("other store").display());
    let named = |words: &[&'static str]| [&["--store", url.as_str()], words].concat();
    sandbox.ok(&named(&["new", "--id", "plan-9"]));
    sandbox.ok(&named(&["append", "plan-9", "--text", "hello"]));
    let planned = sandbox.json(&named(&["fork", "plan-9", "--id", "child", "--dry-run"]));
    let begins = format!("forklore --store '{url}' ");
    let apply = planned["apply"].as_str().unwrap();
    assert!(apply.starts_with(&format!("{begins}fork plan-9 --at ")), "{apply}");
    assert_eq!(planned["resume_command"], format!("{begins}resume child"));
    let (_, refused) = sandbox.error(&named(&["show", "nobody"]));
    assert_eq!(refused["next_actions"], json!([format!("{begins}list --all")]));
    let hint = sandbox.run(&named(&["fork", "plan-9", "--id", "child"])).err;
    assert!(hint.contains(&format!("next: {begins}resume child")), "{hint}");
    // Hints do not repeat a store from the environment: the environment applies to the next command
    // too.
    let planned = sandbox.json(&["fork", "plan-1", "--id", "child", "--dry-run"]);
    assert!(planned["apply"].as_str().unwrap().starts_with("forklore fork plan-1 "), "{planned}");
}
