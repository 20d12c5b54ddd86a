//! What people see, verb by verb.

use crate::place::{Place, snapshot};

/// `plan-1` with a branch at its first turn, a branch of that, a branch at the end, a delegate.
fn family() -> Place {
    let place = Place::with_a_plan();
    place.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    place.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\"}}\n");
    place.ok(&["fork", "plan-b", "--id", "plan-c", "--label", "plan-c", "--title", "Third way"]);
    place.ok(&["fork", "plan-1", "--id", "plan-d", "--label", "plan-d", "--summarize"]);
    place.ok(&["new", "--parent", "plan-1", "--id", "explore", "--label", "explore"]);
    place
}

#[test]
fn a_session_is_made_and_written() {
    let place = Place::new();
    let made = place.run(&["new", "--id", "plan-1", "--title", "Plan the release"]);
    let text = place.run(&["append", "last", "--text", "plan A or plan B?"]);
    let head = place.ok(&[
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
    let place = family();
    place.ok(&[
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
    snapshot!(format!("{}---\n{}", place.ok(&["show", "plan-1"]), place.ok(&["show", "@plan-e"])));
}

#[test]
fn log_is_a_table() {
    let place = family();
    snapshot!(format!(
        "{}---\n{}---\n{}",
        place.ok(&["log", "plan-d"]),
        place.ok(&["log", "plan-d", "--own"]),
        place.ok(&["log", "plan-d", "--from", "2", "--to", "3"])
    ));
}

#[test]
fn replay_is_a_transcript() {
    snapshot!(family().ok(&["replay", "plan-c"]));
}

#[test]
fn bring_shows_the_last_answer_and_the_next_commands() {
    let place = family();
    let answer = r#"{"type":"assistant_message","data":{"content":"Plan A it is.\nTwo weeks."}}"#;
    place.append("plan-b", &format!("{answer}\n"));
    let bring = || place.run(&["bring", "@plan-b", "--into", "plan-1"]);
    let (brought, again) = (bring(), bring());
    snapshot!(format!("{}{}---\n{}{}", brought.out, brought.err, again.out, again.err));
}

#[test]
fn inspect_says_what_the_model_gets() {
    let place = family();
    snapshot!(format!(
        "{}---\n{}",
        place.ok(&["inspect", "plan-1"]),
        place.ok(&["inspect", "plan-d"])
    ));
}

#[test]
fn fork_shows_the_little_tree_and_the_next_commands() {
    let place = family();
    let forked =
        place.run(&["fork", "plan-b", "--at", "message:-1", "--id", "plan-f", "--label", "f"]);
    snapshot!(format!("{}{}", forked.out, forked.err));
}

#[test]
fn a_forks_little_tree_is_small_in_a_large_family() {
    let place = Place::with_a_plan();
    let mut parent = "plan-1".to_owned();
    for level in 1..=6 {
        let id = format!("deep-{level}");
        place.ok(&["fork", &parent, "--id", &id, "--label", &id]);
        parent = id;
    }
    for sibling in 1..=8 {
        let id = format!("sibling-{sibling}");
        place.ok(&["fork", &parent, "--id", &id, "--label", &id]);
    }
    snapshot!(place.ok(&["fork", &parent, "--id", "newest", "--label", "newest"]));
}

#[test]
fn tree_is_drawn() {
    let place = family();
    let whole = place.ok(&["tree"]);
    let shallow = place.ok(&["tree", "plan-c", "--depth", "2"]);
    place.ok(&["delete", "plan-b", "--detach-children"]);
    let deleted = place.ok(&["tree", "plan-c"]);
    snapshot!(format!("{whole}---\n{shallow}---\n{deleted}"));
}

#[test]
fn tree_names_the_agent_and_the_sessions_that_got_the_outcome() {
    let place = family();
    let answer = r#"{"type":"assistant_message","data":{"content":"Plan A it is."}}"#;
    place.append("plan-b", &format!("{answer}\n"));
    place.ok(&["bring", "@plan-b", "--into", "plan-1"]);
    place.append("plan-b", &format!("{answer}\n"));
    place.ok(&["bring", "@plan-b", "--into", "plan-1"]);
    place.file("chat.jsonl", "{\"role\":\"user\",\"content\":\"plan A or plan B?\"}\n");
    place.ok(&["import", "chat.jsonl"]);
    let tree = place.json(&["tree", "plan-1"]);
    let brought = tree["trees"][0]["brought"].as_array().unwrap();
    assert_eq!((brought.len(), &brought[0]["label"]), (2, &"plan-b".into()));
    snapshot!(place.ok(&["tree", "--all"]));
}

#[test]
fn stats_tell_what_a_fork_inherits_and_whose_price_nobody_knows() {
    let place = family();
    let call = r#"{"type":"provider_usage","data":{"input":12000,"output":5,"model":"free"}}"#;
    place.append("plan-d", &format!("{call}\n"));
    place.append("plan-1", &format!("{call}\n"));
    let answers = [
        place.ok(&["stats", "plan-d"]),
        place.ok(&["stats", "plan-1"]),
        place.ok(&["stats", "plan-1", "--family"]),
        place.ok(&["stats", "plan-b"]),
    ];
    let told = place.json(&["stats", "plan-d"]);
    assert_eq!(told["inherited_usage"]["input"], 120);
    assert_eq!(place.json(&["stats", "plan-1"]).get("inherited_usage"), None);
    snapshot!(answers.join("---\n"));
}

#[test]
fn tree_gives_way_on_a_narrow_screen() {
    let place = family();
    let mut command = place.command(&["--workspace", "/demo", "tree"]);
    command.env("COLUMNS", "60");
    snapshot!(crate::place::ran(command).out);
}

#[test]
fn branches_lineage_and_list_are_tables() {
    let place = family();
    let answers = [
        place.ok(&["branches", "plan-c"]),
        place.ok(&["lineage", "plan-b"]),
        place.ok(&["lineage", "plan-1", "--children"]),
        place.ok(&["list"]),
        place.ok(&["list", "--kind", "delegate", "--all"]),
    ];
    snapshot!(answers.join("---\n"));
}

#[test]
fn diff_shows_the_common_part_and_each_side() {
    let place = family();
    place.append("plan-d", "{\"data\":{\"content\":\"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\"}}\n");
    snapshot!(format!(
        "{}---\n{}",
        place.ok(&["diff", "plan-c", "plan-d"]),
        place.ok(&["diff", "plan-b", "plan-c"])
    ));
}

#[test]
fn changes_say_what_they_did() {
    let place = family();
    let answers = [
        place.ok(&["label", "plan-c", "third"]),
        place.ok(&["detach", "plan-c"]),
        place.ok(&["delete", "plan-1", "--cascade", "--dry-run"]),
        place.ok(&["delete", "plan-b", "--detach-children"]),
        place.ok(&["gc"]),
        place.ok(&["pack"]),
        place.ok(&["verify"]),
        place.ok(&["stats"]),
        place.ok(&["stats", "plan-d"]),
    ];
    snapshot!(answers.join("---\n"));
}

#[test]
fn an_empty_store_says_so() {
    let place = Place::new();
    let list = place.run(&["list"]);
    snapshot!(format!(
        "{}{}{}{}",
        list.out,
        list.err,
        place.ok(&["tree"]),
        place.ok(&["list", "--all"])
    ));
}

#[test]
fn short_answers_are_for_scripts() {
    let place = Place::with_a_plan();
    let forked = place.run(&["fork", "-q", "plan-1", "--id", "plan-b"]);
    let made = place.run(&["new", "-q", "--id", "plan-2"]);
    assert_eq!(
        [&*forked.out, &*forked.err, &*made.out, &*made.err],
        ["plan-b\n", "", "plan-2\n", ""]
    );
}

#[test]
fn colour_comes_on_request() {
    let place = Place::with_a_plan();
    let colored = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command(&[&["--workspace", "/demo", "tree"], words].concat());
        command.envs(variables.iter().copied());
        crate::place::ran(command).out.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn a_long_log_has_one_heading() {
    let place = Place::with_a_plan();
    place.append("plan-1", &"{\"data\":{\"content\":\"x\"}}\n".repeat(500));
    let log = place.ok(&["log", "plan-1"]);
    assert_eq!(log.lines().count(), 508);
    assert_eq!(log.lines().filter(|line| line.contains("TYPE")).count(), 1);
    let places: std::collections::BTreeSet<_> =
        log.lines().skip(1).map(|line| line.find('{')).collect();
    assert_eq!(places.len(), 1, "the parts of the table stand below each other");
}
