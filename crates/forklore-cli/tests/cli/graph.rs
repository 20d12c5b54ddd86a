//! Tests of `graph` and `sparql`: sessions as RDF, and queries about them.
#![cfg(feature = "graph")]

use serde_json::json;

use crate::sandbox::{Sandbox, snapshot};

fn family() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\\u0007\"}}\n");
    sandbox
}

const FORKS: &str = "SELECT ?branch ?index ?child {
  ?child prov:wasDerivedFrom ?parent ; fl:branch ?branch ; fl:forkedAtIndex ?index }";

#[test]
fn answers_are_tables_and_the_forms_of_the_w3c() {
    let sandbox = family();
    let text = "SELECT ?text { ?turn fl:session ?s ; fl:text ?text }";
    let shown = [
        sandbox.ok(&["sparql", FORKS]),
        sandbox.ok(&["sparql", text, "--param", "s=session:@plan-b"]),
        sandbox.ok(&["sparql", FORKS, "plan-1", "--format", "csv"]),
        sandbox.ok(&["sparql", FORKS, "--format", "xml"]),
        sandbox.ok(&["sparql", "ASK { ?turn fl:role ?role }", "--param", "role=user"]),
        sandbox.ok(&["sparql", "CONSTRUCT WHERE { ?a prov:wasDerivedFrom ?b }"]),
        format!("{:#}\n", sandbox.json(&["sparql", FORKS, "--limit", "0"])),
    ];
    snapshot!(shown.join("\n"));
}

#[test]
fn refusals_name_their_position_and_kind() {
    let sandbox = family();
    let (exit, error) = sandbox.error(&["sparql", "SELECT ?a\nWHERE { ?a fl:role }"]);
    assert_eq!((exit, &error["kind"]), (2, &"invalid_args".into()));
    let details = json!({"line": 2, "column": 20, "text": "WHERE { ?a fl:role }"});
    assert_eq!(error["details"], details);
    let (exit, _) = sandbox.error(&["sparql", "DELETE WHERE { ?a ?b ?c }"]);
    assert_eq!(exit, 3);
    let (exit, _) = sandbox.error(&["sparql", "ASK { SERVICE <http://a.example/> {} }"]);
    assert_eq!(exit, 3);
    let (exit, _) = sandbox.error(&["sparql", "ASK {}", "--param", "x"]);
    assert_eq!(exit, 2);
}

#[test]
fn a_graph_goes_out_or_into_a_new_file() {
    let sandbox = family();
    let turtle = sandbox.ok(&["graph", "plan-b"]);
    assert!(turtle.contains("<urn:forklore:session:plan-b> a fl:Session"), "{turtle}");
    let path = sandbox.path().join("plan.nq");
    let path = path.to_str().unwrap();
    let wrote = sandbox.json(&["graph", "--format", "nquads", "-o", path]);
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(wrote["triples"], written.lines().count());
    assert_eq!(sandbox.error(&["graph", "-o", path]).1["kind"], "already_exists");
    assert!(
        sandbox.ok(&["graph", "--ontology"]).contains("fl:forkedAtIndex a owl:DatatypeProperty")
    );
    assert!(sandbox.ok(&["graph", "--shapes"]).contains("fl:SessionShape a sh:NodeShape"));
}

#[test]
fn a_graph_store_keeps_the_rules_of_trails() {
    let sandbox = Sandbox::new();
    let url = format!("graph:{}?profile=trails", sandbox.path().join("trails").display());
    let words = |words: &[&str]| {
        let all = [&["--store", url.as_str()], words].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |verb: &[&str]| {
        let all = words(verb);
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        sandbox.run(&all)
    };
    let made = ["new", "--id", "plan-1", "--principal", "did:web:ann.example"];
    assert_eq!(run(&made).code, 0);
    assert_eq!(run(&["new", "--id", "plan-2", "--principal", "ann"]).code, 2);
    assert_eq!(run(&["append", "plan-1", "--text", "plan A or plan B?"]).code, 0);
    assert_eq!(run(&["fork", "plan-1", "--id", "plan-b"]).code, 0);
    for words in [&["--detach-children"][..], &["--detach-children", "--dry-run"], &[]] {
        let refused = run(&[&["delete", "plan-1"], words].concat());
        let named = format!("forklore --store '{url}'");
        let hints: Vec<_> =
            refused.err.lines().filter_map(|it| it.strip_prefix("  try: ")).collect();
        let expected = ["detach plan-b", "delete plan-1 --cascade --dry-run"];
        let expected = expected.map(|command| format!("{named} {command}"));
        assert_eq!(
            (refused.code, hints),
            (4, expected.iter().map(|it| &**it).collect()),
            "{words:?}"
        );
    }
    let requested = run(&["sparql", "SELECT ?who { ?s fl:principal ?who }", "--format", "csv"]);
    assert_eq!(requested.out, "who\r\ndid:web:ann.example\r\ndid:web:ann.example\r\n");
}

/// Runs a command, and returns the command line, all its output and its exit code.
fn shown(sandbox: &Sandbox, words: &[&str]) -> String {
    let ran = sandbox.run(words);
    format!("$ forklore {}\n{}{}[{}]\n", words.join(" "), ran.out, ran.err, ran.code)
}

#[test]
fn what_is_no_sparql_is_shown_with_its_line() {
    let sandbox = family();
    let long = format!("SELECT {}", "(1 AS ?x) ".repeat(40));
    let shown = [
        shown(&sandbox, &["sparql", "SELECT ?a\nWHERE { ?a fl:role }\nLIMIT 3"]),
        shown(&sandbox, &["sparql", "SELEC ?a { ?a ?b ?c }"]),
        shown(&sandbox, &["sparql", "SELECT * { ?a nobody:knows ?b }"]),
        shown(&sandbox, &["sparql", "ASK { ?s fl:title \"\u{1b}[2J\u{202e}\u{4e16}\" ; }} x"]),
        shown(&sandbox, &["sparql", &long]),
        shown(&sandbox, &["sparql", ""]),
    ];
    snapshot!(shown.join("\n"));
}

#[test]
fn a_value_that_only_begins_like_a_term_is_refused() {
    let sandbox = family();
    let ask = "ASK { ?turn fl:role ?role }";
    let shown: Vec<_> = ["role=<role>", "role=\"user", "role=session:gone", "role", "role=user"]
        .map(|parameter| shown(&sandbox, &["sparql", ask, "--param", parameter]))
        .into();
    let ran = shown.join("\n");
    assert!(ran.ends_with("yes\n[0]\n") || ran.contains("\nyes\n"), "{ran}");
    snapshot!(
        ran.lines().filter(|line| !line.contains(" read in ")).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn a_refused_parameter_is_named_in_the_details() {
    let sandbox = family();
    for parameter in ["role=<role>", "other=user"] {
        let ask = "ASK { ?turn fl:role ?role }";
        let (code, error) = sandbox.error(&["sparql", ask, "--param", parameter]);
        let (name, _) = parameter.split_once('=').unwrap();
        let expected = (2, &json!("invalid_args"), &json!({"parameter": name}));
        assert_eq!((code, &error["kind"], &error["details"]), expected);
    }
}

#[test]
fn a_folder_without_sessions_says_so() {
    let without_times = |text: String| {
        let lines = text.lines().filter(|line| !line.contains(" read in "));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let ask = ["sparql", "SELECT ?a { ?a a fl:Session }"];
    let empty = Sandbox::with_default_store();
    let mut screens = vec![shown(&empty, &["graph"]), shown(&empty, &ask)];
    let sandbox = family();
    let elsewhere = |words: &[&str]| {
        let mut command = sandbox.command(&[&["--workspace", "/elsewhere"], words].concat());
        command.env("COLUMNS", "100");
        let ran = crate::sandbox::ran(command);
        format!("$ forklore {}\n{}{}[{}]\n", words.join(" "), ran.out, ran.err, ran.code)
    };
    screens.extend([elsewhere(&["graph"]), elsewhere(&ask), elsewhere(&["-q", "graph"])]);
    snapshot!(screens.into_iter().map(without_times).collect::<Vec<_>>().join("\n"));
    assert_eq!(
        sandbox.json(&["sparql", ask[1]])["results"]["bindings"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn an_unknown_term_and_an_empty_answer_are_named() {
    let sandbox = family();
    let misspelt = "SELECT ?t { ?t fl:brnach ?b ; a fl:Message }";
    let shown: Vec<_> = [
        misspelt,
        "SELECT ?t { ?t fl:branch \"nobody\" }",
        "CONSTRUCT WHERE { ?t prov:hadActivity ?x }",
        "ASK { ?t <https://github.com/forklore/forklore/ns#a\u{202e}b> ?x }",
    ]
    .map(|text| shown(&sandbox, &["sparql", text]))
    .into();
    let ran = shown.join("\n");
    let lines = ran.lines().filter(|line| !line.contains(" read in "));
    snapshot!(lines.collect::<Vec<_>>().join("\n"));
    let notes = |text: &str| sandbox.json(&["sparql", text]).get("notes").cloned();
    let note = "no graph has fl:brnach; the nearest term is fl:branch";
    assert_eq!(notes(misspelt), Some(json!([note])));
    assert_eq!(notes("ASK { ?t fl:branch ?b }"), None);
}

#[test]
fn a_query_without_a_value_that_it_asks_for_is_refused_at_once() {
    let sandbox = family();
    let text = "# --param word=TEXT\nSELECT ?t { ?t fl:text ?word }";
    let (code, error) = sandbox.error(&["sparql", text]);
    let message = "the parameter word cannot be bound: the query asks for it, and it has no value";
    assert_eq!((code, &error["message"]), (2, &json!(message)));
    assert_eq!(error["details"], json!({"parameter": "word"}));
}

#[test]
fn a_second_question_reads_no_session_and_gc_removes_the_index() {
    let sandbox = family();
    let ask = || {
        let ran = sandbox.run(&["sparql", FORKS, "--format", "csv"]);
        let read = ran.err.lines().find(|line| line.contains(" read in ")).unwrap().to_owned();
        (ran.out, read.split(" read in ").next().unwrap().to_owned())
    };
    let (first, again) = (ask(), ask());
    assert_eq!((first.1.as_str(), again.1.as_str()), ("2 sessions", "0 sessions"));
    assert_eq!(first.0, again.0);
    sandbox.ok(&["gc"]);
    assert_eq!(ask(), first);
}

#[test]
fn a_file_is_replaced_only_by_force() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = family();
    let path = sandbox.path().join("plan.out");
    let file = path.to_str().unwrap();
    for words in
        [vec!["graph", "plan-1", "-o", file], vec!["export", "plan-1", "--to", "plain", "-o", file]]
    {
        std::fs::write(&path, "before").unwrap();
        let (_, error) = sandbox.error(&words);
        assert_eq!(error["kind"], "already_exists");
        assert!(error["message"].as_str().unwrap().ends_with("or use --force"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        sandbox.ok(&[&words[..], &["--force"]].concat());
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, sandbox.ok(&words[..words.len() - 2]));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // A link stays, and its file is replaced. What is no file is never replaced.
    let link = sandbox.path().join("link");
    std::fs::write(&path, "before").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    sandbox.ok(&["graph", "plan-1", "-o", link.to_str().unwrap(), "--force"]);
    assert!(link.is_symlink());
    assert_ne!(std::fs::read_to_string(&path).unwrap(), "before");
    let folder = sandbox.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for other in [folder.to_str().unwrap(), "/dev/null"] {
        let (_, error) = sandbox.error(&["graph", "plan-1", "-o", other, "--force"]);
        assert_eq!(error["kind"], "already_exists", "{error}");
    }
    assert!(!std::path::Path::new("/dev/null").is_file());
    let parts = std::fs::read_dir(sandbox.path()).unwrap();
    let parts = parts
        .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains("-new-"));
    assert_eq!(parts.count(), 0);
}

#[test]
fn with_json_the_graph_is_json_ld() {
    let sandbox = Sandbox::with_a_plan();
    let ran = sandbox.run(&["graph", "plan-1", "--json"]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran:?}");
    let graph: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(graph.to_string().contains("urn:forklore:session:plan-1"), "{graph}");
    assert!(sandbox.ok(&["graph", "plan-1"]).starts_with("@prefix"));
}
