//! Tests of exit codes and of the JSON error object (docs/semantics.md, Errors).

use serde_json::json;

use crate::sandbox::{Sandbox, WORKSPACE, ran, snapshot};

#[test]
fn refusals_have_their_kind_and_code() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--permissions", "read"]);
    let cases: &[(&[&str], &str, i32)] = &[
        (&["show", "nobody"], "not_found", 2),
        (&["show", "@nobody"], "not_found", 2),
        (&["show", "plan-"], "invalid_args", 2),
        (&["fork", "plan-1", "--at", "turn:9"], "invalid_args", 2),
        (&["fork", "plan-1", "--at", "nonsense"], "invalid_args", 2),
        (
            &["fork", "plan-1", "--at", "index:0", "--tool-calls", "remove", "--to-seq", "1"],
            "invalid_args",
            2,
        ),
        (&["replay", "plan-1", "--speed", "0"], "invalid_args", 2),
        (&["list", "--since", "yesterday"], "invalid_args", 2),
        (&["list", "--after", "nonsense"], "invalid_args", 2),
        (&["append", "plan-1", "--data", "{"], "invalid_args", 2),
        (&["append", "plan-1", "--type", "session_fork", "--data", "{}"], "invalid_args", 2),
        (&["append", "./plan-1", "--text", "x"], "invalid_args", 2),
        (&["new", "--label", "other one"], "invalid_args", 2),
        (&["rename", "plan-1", &"x".repeat(501)], "invalid_args", 2),
        (&["fork", "plan-b", "--permissions", "read,shell"], "permission_denied", 3),
        (&["append", "plan-1", "--expect", "3", "--text", "x"], "conflict", 4),
        (&["fork", "plan-1", "--tool-calls", "error"], "conflict", 4),
        (&["new", "--id", "PLAN-1"], "already_exists", 4),
        (&["label", "plan-b", "main"], "already_exists", 4),
        (&["delete", "plan-1"], "has_children", 4),
        (&["export", "plan-1", "--to", "nobody"], "invalid_args", 2),
    ];
    for (words, kind, code) in cases {
        let (got, error) = sandbox.error(words);
        assert_eq!((error["kind"].as_str(), got), (Some(*kind), *code), "{words:?}: {error}");
        assert!(error["message"].is_string() && error["details"].is_object(), "{error}");
        assert!(error["next_actions"].is_array(), "{error}");
    }
}

#[test]
fn usage_errors_have_the_envelope_too() {
    let sandbox = Sandbox::new();
    for words in [
        &[][..],
        &["nonsense"],
        &["show"],
        &["show", "a", "b"],
        &["fork", "a", "--kind", "root"],
        &["tree", "--depth", "61"],
        &["append", "a", "--expect", "many"],
        &["list", "--color", "green"],
        &["list", "--nonsense"],
    ] {
        let (code, error) = sandbox.error(words);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{words:?}: {error}");
        assert!(!error["message"].as_str().unwrap().contains('\n'), "{error}");
    }
    assert!(!sandbox.store().exists());
}

#[test]
fn people_get_one_line_and_a_hint() {
    let sandbox = Sandbox::with_a_plan();
    let gone = sandbox.run(&["show", "nobody"]);
    assert_eq!(gone.out, "");
    assert_eq!(gone.err, "error: session nobody does not exist\n  try: forklore list --all\n");
    let usage = sandbox.run(&["fork", "plan-1", "--nonsense"]);
    assert_eq!((usage.code, usage.out.as_str()), (2, ""));
    assert_eq!(
        usage.err.lines().collect::<Vec<_>>(),
        ["error: forklore fork has no option `--nonsense`", "  try: forklore fork --help"]
    );
    let silent = sandbox.run(&["show", "nobody", "-q"]);
    assert_eq!(silent.err, "error: session nobody does not exist\n");
}

#[test]
fn an_ambiguous_reference_lists_candidates() {
    let sandbox = Sandbox::new();
    for at in 0..12 {
        sandbox.ok(&["new", "--id", &format!("meeting-{at:02}")]);
    }
    let (code, error) = sandbox.error(&["show", "meeting"]);
    assert_eq!((code, &error["details"]["count"]), (2, &json!(12)));
    assert_eq!(error["details"]["candidates"].as_array().unwrap().len(), 10);
    let people = sandbox.run(&["show", "meeting"]).err;
    assert_eq!(people.lines().filter(|line| line.starts_with("  meeting-")).count(), 10);
}

#[test]
fn references_are_tried_in_order() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "0198-long-identity-77", "--label", "other"]);
    let id = |reference: &str| sandbox.json(&["show", reference])["session"]["id"].clone();
    for reference in ["0198-long-identity-77", "last", "@other", "plan-1@other", "0198", "ty-77"] {
        assert_eq!(id(reference), "0198-long-identity-77", "{reference}");
    }
    assert_eq!(id("last@main"), "plan-1");
}

#[test]
fn a_command_of_another_program_is_corrected_with_its_arguments() {
    let sandbox = Sandbox::with_a_plan();
    let (code, error) = sandbox.error(&["rm", "plan-1", "a title"]);
    let corrected = json!("forklore --workspace /demo --json delete plan-1 'a title'");
    assert_eq!((code, &error["next_actions"][0]), (2, &corrected), "{error}");
    let message = "forklore has no command `rm`, but `delete` does that";
    assert_eq!(error["message"], message);
    assert_eq!(sandbox.error(&["frobnicate"]).0, 2);
    sandbox.ok(&["show", "plan-1"]);
}

#[test]
fn last_stays_within_the_workspace_and_names_do_where_they_can() {
    let sandbox = Sandbox::with_a_plan();
    let elsewhere = |words: &[&str]| {
        crate::sandbox::ran(
            sandbox.command(&[&["--workspace", "/elsewhere", "--json"], words].concat()),
        )
    };
    assert_eq!(elsewhere(&["show", "last"]).code, 2);
    assert_eq!(elsewhere(&["show", "@main"]).code, 0);
    sandbox.ok(&["new", "--id", "other"]);
    assert_eq!(elsewhere(&["show", "@main"]).code, 2, "two sessions have this label");
    assert_eq!(elsewhere(&["show", "plan-1"]).code, 0);
    let all = crate::sandbox::ran(sandbox.command(&["--all", "--json", "show", "last"]));
    assert_eq!(all.code, 0, "{all:?}");
    assert!(WORKSPACE == "/demo" && all.out.contains("\"workspace\":\"/demo\""));
}

#[test]
fn a_line_of_a_batch_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::with_a_plan();
    let good = r#"{"type":"user_message","data":{"content":"x"}}"#;
    for (bad, line) in
        [("{", 3), (r#"{"type":"user_message"}"#, 3), (r#"{"data":{"text":"x"}}"#, 3)]
    {
        let ran = sandbox.append("plan-1", &format!("{good}\n\n{bad}\n"));
        assert_eq!(ran.code, 2);
        let named = [format!("line {line}:"), format!("event {line}:")];
        assert!(named.iter().any(|name| ran.err.contains(name)), "{}", ran.err);
    }
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["head_seq"], 6);
}

#[test]
fn a_store_that_is_none_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.store(), "this is a letter, not a store\n".repeat(100)).unwrap();
    let (code, error) = sandbox.error(&["list"]);
    assert_eq!((code, &error["kind"]), (5, &json!("unsupported")), "{error}");
    let (code, error) = sandbox.error(&["--store", "nonsense", "list"]);
    assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
}

#[test]
fn a_name_of_another_folder_is_used_where_it_is_unique() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-2", "--label", "idea", "--title", "The idea"]);
    let verbs: &[&[&str]] = &[
        &["append", "@idea", "--text", "x"],
        &["fork", "the idea", "--id", "plan-3"],
        &["diff", "plan-1", "idea"],
        &["bring", "@idea", "--into", "plan-1"],
        &["inspect", "idea"],
        &["show", "@idea"],
    ];
    for words in verbs {
        let ran = ran(sandbox.command(words));
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        let remark = ran.err.lines().next().unwrap_or_default();
        assert_eq!(remark, "plan-2 is a session of the folder /demo", "{words:?}");
        let json = crate::sandbox::ran(sandbox.command(&[&["--json"], *words].concat()));
        assert!(json.err.is_empty(), "{json:?}");
    }
    let by_id = ran(sandbox.command(&["show", "plan-2"]));
    assert_eq!((by_id.code, &*by_id.err), (0, ""), "{by_id:?}");
    sandbox.ok(&["label", "plan-3", "main-2"]);
    sandbox.ok(&["new", "--id", "other", "--label", "idea"]);
    let several = ran(sandbox.command(&["show", "idea"]));
    let json = ran(sandbox.command(&["--json", "show", "@idea"]));
    assert_eq!((several.code, json.code), (2, 2));
    snapshot!(format!("{}{}", several.err, json.out));
    assert_eq!(ran(sandbox.command(&["delete", "@idea"])).code, 2);
}

#[test]
fn what_is_no_store_is_named_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.file("other.txt", "hello\n");
    std::fs::create_dir_all(sandbox.path().join("folder/inside")).unwrap();
    let mut shown = Vec::new();
    for url in [
        "sqlite:folder",
        "sqlite:other.txt",
        "files:other.txt",
        "files:folder",
        "graph:other.txt",
        "graph:folder",
        "mysql://host/name",
        "folder",
    ] {
        for verb in ["list", "doctor"] {
            let ran = sandbox.run(&["--store", url, verb]);
            assert_ne!(ran.code, 0, "{url} {verb}: {ran:?}");
            let problems = ran.out.lines().filter(|line| line.starts_with("problem"));
            let problems: String = problems.map(|line| format!("{line}\n")).collect();
            shown.push(format!(
                "$ forklore --store {url} {verb}\n{problems}{}[{}]\n",
                ran.err, ran.code
            ));
        }
    }
    let twice = sandbox.run(&["--store", "sqlite:a", "--store", "sqlite:b", "list"]);
    shown.push(format!("{}[{}]\n", twice.err, twice.code));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("other.txt")).unwrap(), "hello\n");
    assert_eq!(std::fs::read_dir(sandbox.path().join("folder")).unwrap().count(), 1);
    snapshot!(shown.join("\n"));
}

#[test]
fn what_was_typed_is_quoted_and_the_command_corrected() {
    let sandbox = Sandbox::with_a_plan();
    let mut shown = String::new();
    for words in [
        &["fork", "plan-1", "--at", "trun:1"][..],
        &["fork", "plan-1", "--at=ned"],
        &["fork", "plan-1", "--at", "seven"],
        &["fork", "plan-1", "--at", "-2"],
        &["fork", "plan-1", "--at", "turn:9"],
        &["fork", "plan-1", "--lable", "x"],
        &["srch", "a word"],
        &["frobnicate"],
        &["list", "--kind", "foo"],
        &["list", "--kind", "brunch"],
        &["list", "--since", "yesterday"],
        &["search", "--role", "usr", "plan"],
        &["export", "plan-1", "--to", "clude"],
        &["export", "plan-1"],
        &["resume-in", "clade", "plan-1"],
        &["rename", "plan-1"],
        &["show", "plan-1", "plan-2"],
        &["man", "frok"],
        &["operations", "3"],
        &["op"],
        &["config", "int"],
        &["config", "check", "--nope"],
        &["op", "show", "x"],
        &["list", "--jsn"],
        &["fork", "plan-1", "--at", "turn:x"],
        &["gc", "--trash-older-than", "long"],
        &["show", "--\u{1b}[31m"],
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.out, "", "{words:?}: {ran:?}");
        shown.push_str(&format!("$ forklore {}\n{}[{}]\n", words.join(" "), ran.err, ran.code));
    }
    snapshot!(shown.replace('\u{1b}', "ESC"));
}

#[test]
fn help_and_version_are_json_too() {
    let sandbox = Sandbox::new();
    let version = sandbox.json(&["--version"]);
    assert_eq!(version, json!({"ok": true, "version": env!("CARGO_PKG_VERSION")}));
    let help = sandbox.json(&["help", "fork"]);
    let text = sandbox.ok(&["help", "fork"]);
    assert_eq!(help, json!({"ok": true, "help": text}));
    assert_eq!(sandbox.json(&["fork", "-h"])["ok"], true);
    assert_eq!(sandbox.json(&["--help"])["help"], sandbox.ok(&["--help"]));
}

#[test]
fn what_is_deleted_is_found_in_the_trash() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["delete", "plan-1", "--erase", "--yes"]);
    let (code, error) = sandbox.error(&["show", "plan-1"]);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")), "{error}");
    assert!(!error["next_actions"].to_string().contains("another id"), "{error}");
}
