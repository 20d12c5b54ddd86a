//! Snapshots of the output for users, command by command.

use crate::sandbox::{Sandbox, WORKSPACE, ran, snapshot};

/// Creates the session `plan-1` with a branch after its first turn, a branch of that branch, a
/// branch at the end of `plan-1`, and a delegate.
fn family() -> Sandbox {
    let sandbox = Sandbox::with_a_plan();
    sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    sandbox.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\"}}\n");
    sandbox.ok(&["fork", "plan-b", "--id", "plan-c", "--label", "plan-c", "--title", "Third way"]);
    sandbox.ok(&["fork", "plan-1", "--id", "plan-d", "--label", "plan-d", "--summarize"]);
    sandbox.ok(&["new", "--parent", "plan-1", "--id", "explore", "--label", "explore"]);
    sandbox
}

#[test]
fn a_session_is_made_and_written() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&["new", "--id", "plan-1", "--title", "Plan the release"]);
    let text = sandbox.run(&["append", "last", "--text", "plan A or plan B?"]);
    let head = sandbox.ok(&[
        "append",
        "plan-1",
        "--expect",
        "0",
        "--type",
        "assistant_message",
        "--text",
        "B",
    ]);
    snapshot!(format!("{}{}---\n{}{}---\n{head}", made.out, made.err, text.out, text.err));
}

#[test]
fn show_names_everything_recorded() {
    let sandbox = family();
    sandbox.ok(&[
        "fork",
        "plan-1",
        "--at",
        "index:1",
        "--id",
        "plan-e",
        "--label",
        "plan-e",
        "--strategy",
        "replay_v1",
        "--principal",
        "alice",
        "--permissions",
        "read,write",
        "--metadata",
        r#"{"color": "red"}"#,
    ]);
    snapshot!(format!(
        "{}---\n{}",
        sandbox.ok(&["show", "plan-1"]),
        sandbox.ok(&["show", "@plan-e"])
    ));
}

#[test]
fn log_is_a_table() {
    let sandbox = family();
    snapshot!(format!(
        "{}---\n{}---\n{}",
        sandbox.ok(&["log", "plan-d"]),
        sandbox.ok(&["log", "plan-d", "--own"]),
        sandbox.ok(&["log", "plan-d", "--from", "2", "--to", "3"])
    ));
}

#[test]
fn replay_is_a_transcript() {
    snapshot!(family().ok(&["replay", "plan-c"]));
}

/// A turn of an agent with thinking, parallel calls, an edit and a failure.
const WORK: &str = r#"{"type":"user_message","data":{"content":"Mend the test."}}
{"type":"assistant_message","data":{"content":[{"type":"reasoning","text":"The test fails since the list is empty. Let me look."},{"type":"text","text":"I look."},{"type":"tool_call","id":"toolu_1","name":"Bash","arguments":{"command":"ls -la\ncargo test","description":"List"}},{"type":"tool_call","id":"toolu_2","name":"Read","arguments":{"file_path":"/demo/src/a.rs"}}]}}
{"type":"tool_result","data":{"call_id":"toolu_2","content":"fn a() {}\nfn b() {}\n"}}
{"type":"tool_result","data":{"call_id":"toolu_1","content":"no such command","is_error":true}}
{"type":"tool_call","data":{"id":"toolu_3","name":"Edit","arguments":{"file_path":"/demo/src/a.rs","old_string":"a\nb\nc","new_string":"a\nx\ny\nc"}}}
{"type":"tool_result","data":{"call_id":"toolu_3","content":"done"}}
{"type":"x.mark","data":{"n":1}}
{"type":"user_message","data":{"content":"Thanks."}}
{"type":"assistant_message","data":{"content":"Gladly."}}
"#;

#[test]
fn agents_work_is_one_line_each() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "work"]);
    sandbox.append("work", WORK);
    let answers = [
        sandbox.ok(&["log", "work"]),
        sandbox.ok(&["log", "work", "--from", "3", "--to", "4"]),
        sandbox.ok(&["log", "work", "--from", "5", "--to", "5", "--raw"]),
        sandbox.ok(&["replay", "work", "--from", "message:1", "--up-to", "turn:1"]),
        sandbox.ok(&["replay", "work", "--up-to", "message:1", "--thinking"]),
        sandbox.ok(&["replay", "work", "--from", "message:2", "--full"]),
        sandbox.ok(&["replay", "work", "--last", "1"]),
    ];
    let json = sandbox.ok(&["--json", "replay", "work", "--last", "1"]);
    assert_eq!(json.lines().count(), 2);
    let both = sandbox.run(&["replay", "work", "--last", "1", "--from", "turn:1"]);
    let none = sandbox.run(&["replay", "work", "--last", "0"]);
    assert_eq!((both.code, none.code), (2, 2));
    snapshot!(answers.join("---\n"));
}

#[test]
fn bring_shows_the_last_answer_and_the_next_commands() {
    let sandbox = family();
    let answer = r#"{"type":"assistant_message","data":{"content":"Plan A it is.\nTwo weeks."}}"#;
    sandbox.append("plan-b", &format!("{answer}\n"));
    let bring = || sandbox.run(&["bring", "@plan-b", "--into", "plan-1"]);
    let (brought, again) = (bring(), bring());
    snapshot!(format!("{}{}---\n{}{}", brought.out, brought.err, again.out, again.err));
}

#[test]
fn inspect_says_what_the_model_gets() {
    let sandbox = family();
    snapshot!(format!(
        "{}---\n{}",
        sandbox.ok(&["inspect", "plan-1"]),
        sandbox.ok(&["inspect", "plan-d"])
    ));
}

#[test]
fn fork_shows_the_little_tree_and_the_next_commands() {
    let sandbox = family();
    let forked =
        sandbox.run(&["fork", "plan-b", "--at", "message:-1", "--id", "plan-f", "--label", "f"]);
    snapshot!(format!("{}{}", forked.out, forked.err));
}

#[test]
fn a_forks_little_tree_is_small_in_a_large_family() {
    let sandbox = Sandbox::with_a_plan();
    let mut parent = "plan-1".to_owned();
    for level in 1..=6 {
        let id = format!("deep-{level}");
        sandbox.ok(&["fork", &parent, "--id", &id, "--label", &id]);
        parent = id;
    }
    for sibling in 1..=8 {
        let id = format!("sibling-{sibling}");
        sandbox.ok(&["fork", &parent, "--id", &id, "--label", &id]);
    }
    snapshot!(sandbox.ok(&["fork", &parent, "--id", "newest", "--label", "newest"]));
}

#[test]
fn tree_is_drawn() {
    let sandbox = family();
    let whole = sandbox.ok(&["tree"]);
    let shallow = sandbox.ok(&["tree", "plan-c", "--depth", "2"]);
    sandbox.ok(&["delete", "plan-b", "--detach-children"]);
    let deleted = sandbox.ok(&["tree", "plan-c"]);
    snapshot!(format!("{whole}---\n{shallow}---\n{deleted}"));
}

#[test]
fn many_empty_forks_are_one_line_of_a_tree() {
    let sandbox = Sandbox::with_a_plan();
    for number in 1..=9 {
        let id = format!("fork-{number}");
        sandbox.ok(&["fork", "plan-1", "--at", "turn:1", "--id", &id, "--label", &id]);
    }
    let few = sandbox.ok(&["fork", "fork-3", "--id", "below", "--label", "below"]);
    assert!(few.contains("below"), "{few}");
    sandbox.append("fork-5", "{\"data\":{\"content\":\"No.\"}}\n");
    let answers = [
        sandbox.ok(&["tree", "plan-1"]),
        sandbox.ok(&["tree", "fork-7"]),
        sandbox.ok(&["tree", "plan-1", "--unfold"]),
    ];
    snapshot!(answers.join("---\n"));
}

#[test]
fn tree_names_the_agent_and_the_sessions_that_got_the_outcome() {
    let sandbox = family();
    let answer = r#"{"type":"assistant_message","data":{"content":"Plan A it is."}}"#;
    sandbox.append("plan-b", &format!("{answer}\n"));
    sandbox.ok(&["bring", "@plan-b", "--into", "plan-1"]);
    sandbox.append("plan-b", &format!("{answer}\n"));
    sandbox.ok(&["bring", "@plan-b", "--into", "plan-1"]);
    sandbox.file("chat.jsonl", "{\"role\":\"user\",\"content\":\"plan A or plan B?\"}\n");
    sandbox.ok(&["import", "chat.jsonl"]);
    let tree = sandbox.json(&["tree", "plan-1"]);
    let brought = tree["trees"][0]["brought"].as_array().unwrap();
    assert_eq!((brought.len(), &brought[0]["label"]), (2, &"plan-b".into()));
    snapshot!(sandbox.ok(&["tree", "--all"]));
}

#[test]
fn stats_tell_what_a_fork_inherits_and_whose_price_nobody_knows() {
    let sandbox = family();
    let call = r#"{"type":"provider_usage","data":{"input":12000,"output":5,"model":"free"}}"#;
    sandbox.append("plan-d", &format!("{call}\n"));
    sandbox.append("plan-1", &format!("{call}\n"));
    let answers = [
        sandbox.ok(&["stats", "plan-d"]),
        sandbox.ok(&["stats", "plan-1"]),
        sandbox.ok(&["stats", "plan-1", "--family"]),
        sandbox.ok(&["stats", "plan-b"]),
    ];
    let answer = sandbox.json(&["stats", "plan-d"]);
    assert_eq!(answer["inherited_usage"]["input"], 120);
    assert_eq!(sandbox.json(&["stats", "plan-1"]).get("inherited_usage"), None);
    snapshot!(answers.join("---\n"));
}

#[test]
fn tree_gives_way_on_a_narrow_screen() {
    let sandbox = family();
    let mut command = sandbox.command(&["--workspace", "/demo", "tree"]);
    command.env("COLUMNS", "60");
    snapshot!(crate::sandbox::ran(command).out);
}

#[test]
fn branches_lineage_and_list_are_tables() {
    let sandbox = family();
    let answers = [
        sandbox.ok(&["branches", "plan-c"]),
        sandbox.ok(&["lineage", "plan-b"]),
        sandbox.ok(&["lineage", "plan-1", "--children"]),
        sandbox.ok(&["list"]),
        sandbox.ok(&["list", "--kind", "delegate", "--all"]),
    ];
    snapshot!(answers.join("---\n"));
}

#[test]
fn diff_shows_the_common_part_and_each_side() {
    let sandbox = family();
    sandbox.append("plan-d", "{\"data\":{\"content\":\"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\"}}\n");
    snapshot!(format!(
        "{}---\n{}",
        sandbox.ok(&["diff", "plan-c", "plan-d"]),
        sandbox.ok(&["diff", "plan-b", "plan-c"])
    ));
}

/// Creates the session `work` and a branch `other` of it, which says similar things.
fn similar() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "work"]);
    sandbox.append("work", WORK);
    sandbox.ok(&["fork", "work", "--at", "message:0", "--id", "other", "--label", "other"]);
    let lines = WORK.lines().skip(1).collect::<Vec<_>>().join("\n");
    let lines = lines.replace("Thanks.", "Thanks a lot, 計画 is fine now.\\nBye.");
    sandbox.append("other", &lines.replace("no such command", "no such a command"));
    let usage = r#"{"type":"provider_usage","data":{"input":12000,"output":5,"cost":0.25}}"#;
    sandbox.append("other", usage);
    sandbox
}

#[test]
fn diff_marks_changed_words() {
    let sandbox = similar();
    let mut narrow = sandbox.command(&["--workspace", "/demo", "diff", "work", "other", "-y"]);
    narrow.env("COLUMNS", "60");
    let colored = ["--color", "always", "diff", "work", "other"];
    let answers = [
        sandbox.ok(&["diff", "work", "other"]),
        sandbox.ok(&["diff", "work", "other", "--side-by-side"]),
        crate::sandbox::ran(narrow).out,
        sandbox.ok(&["diff", "work", "other", "--stat"]),
        sandbox.ok(&["diff", "other", "other", "--stat"]),
        sandbox.ok(&colored).replace('\u{1b}', "^"),
    ];
    let stats = sandbox.json(&["diff", "work", "other", "--stat"]);
    assert_eq!(
        (&stats["a"]["tool_calls"], &stats["b"]["usage"]["input"]),
        (&3.into(), &12000.into())
    );
    assert_eq!(sandbox.run(&["diff", "work", "other", "--stat", "-y"]).code, 2);
    snapshot!(answers.join("---\n"));
}

#[test]
fn changes_say_what_they_did() {
    let sandbox = family();
    let answers = [
        sandbox.ok(&["label", "plan-c", "third"]),
        sandbox.ok(&["detach", "plan-c"]),
        sandbox.ok(&["delete", "plan-1", "--cascade", "--dry-run"]),
        sandbox.ok(&["delete", "plan-b", "--detach-children"]),
        sandbox.ok(&["gc"]),
        sandbox.ok(&["pack"]),
        sandbox.ok(&["verify"]),
        sandbox.ok(&["stats"]),
        sandbox.ok(&["stats", "plan-d"]),
    ];
    snapshot!(answers.join("---\n"));
}

#[test]
fn an_empty_store_says_so() {
    let sandbox = Sandbox::with_default_store();
    let list = sandbox.run(&["list"]);
    snapshot!(format!(
        "{}{}{}{}",
        list.out,
        list.err,
        sandbox.ok(&["tree"]),
        sandbox.ok(&["list", "--all"])
    ));
}

#[test]
fn short_answers_are_for_scripts() {
    let sandbox = Sandbox::with_a_plan();
    let forked = sandbox.run(&["fork", "-q", "plan-1", "--id", "plan-b"]);
    let made = sandbox.run(&["new", "-q", "--id", "plan-2"]);
    assert_eq!(
        [&*forked.out, &*forked.err, &*made.out, &*made.err],
        ["plan-b\n", "", "plan-2\n", ""]
    );
}

#[test]
fn colour_comes_on_request() {
    let sandbox = Sandbox::with_a_plan();
    let colored = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&[&["--workspace", "/demo", "tree"], words].concat());
        command.envs(variables.iter().copied());
        crate::sandbox::ran(command).out.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn a_long_log_has_one_heading() {
    let sandbox = Sandbox::with_a_plan();
    sandbox.append("plan-1", &"{\"data\":{\"content\":\"x\"}}\n".repeat(500));
    let log = sandbox.ok(&["log", "plan-1", "--raw"]);
    assert_eq!(log.lines().count(), 508);
    assert_eq!(log.lines().filter(|line| line.contains("TYPE")).count(), 1);
    let locations: std::collections::BTreeSet<_> =
        log.lines().skip(1).map(|line| line.find('{')).collect();
    assert_eq!(locations.len(), 1, "the parts of the table stand below each other");
}

#[test]
fn times_are_those_of_the_machine_or_of_utc() {
    let sandbox = Sandbox::with_a_plan();
    let old = r#"{"ts":"2026-01-31T23:30:00Z","data":{"content":"late"}}"#;
    sandbox.append("plan-1", old);
    let shown = |zone: &str, words: &[&str]| {
        let mut command = sandbox.command(&[&["--workspace", WORKSPACE], words].concat());
        let ran = ran({
            command.env("TZ", zone);
            command
        });
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.out
    };
    let berlin = shown("Europe/Berlin", &["replay", "plan-1", "--last", "1"]);
    assert!(berlin.contains("2026-02-01 00:30:00 CET"), "{berlin}");
    let utc = shown("Europe/Berlin", &["--utc", "replay", "plan-1", "--last", "1"]);
    assert!(utc.contains("2026-01-31 23:30:00 UTC"), "{utc}");
    let log = shown("Europe/Berlin", &["log", "plan-1"]);
    assert!(log.contains("02-01 00:30:00") && !log.contains("01-31 23:30:00"), "{log}");
    let unknown = shown("Nowhere/Land", &["replay", "plan-1", "--last", "1"]);
    assert!(unknown.contains("2026-01-31 23:30:00 UTC"), "{unknown}");
    // A device has no end, so it is no file of a zone.
    let endless = shown("/dev/zero", &["replay", "plan-1", "--last", "1"]);
    assert_eq!(endless, unknown);
    let mut warned = sandbox.command(&["--workspace", WORKSPACE, "list"]);
    warned.env("TZ", ":/dev/zero");
    let why = "TZ names no file of a time zone, so times are in UTC: :/dev/zero\n";
    assert_eq!(ran(warned).err, why);
    let json = shown("Europe/Berlin", &["--json", "log", "plan-1"]);
    assert!(json.contains("\"ts\":\"2026-01-31T23:30:00"), "{json}");
}
