//! Tests of hostile names and texts: hostile names are refused and not repeated, and hostile text
//! is escaped on a terminal.

use crate::sandbox::Sandbox;

const NAMES: [&str; 8] = ["", "-x", "a b", "..", "a\u{202e}b", "\u{1b}[31mred", "x\ny", "last!"];

#[test]
fn hostile_ids_are_refused_before_any_read_and_never_echoed() {
    let sandbox = Sandbox::new();
    for name in NAMES.iter().chain(&["../../no/such", "..\\evil"]) {
        for words in [
            &["show", name][..],
            &["log", name],
            &["append", name, "--text", "x"],
            &["fork", name],
            &["fork", "plan-1", "--id", name],
            &["fork", "plan-1", "--label", name],
            &["new", "--id", name],
            &["new", "--parent", name],
            &["diff", name, "plan-1"],
            &["delete", name],
            &["tree", name],
        ] {
            let (code, error) = sandbox.error(words);
            assert_eq!(code, 2, "{words:?}: {error}");
            let people = sandbox.run(words);
            let output = format!("{error}{}{}", people.out, people.err);
            assert!(name.len() < 3 || !output.contains(name), "{words:?}: {output}");
            assert!(!output.contains(['\u{1b}', '\u{202e}']), "{words:?}: {output}");
        }
    }
    let left: Vec<_> =
        std::fs::read_dir(sandbox.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["home"]);
}

#[test]
fn hostile_text_is_escaped_for_people_and_unchanged_for_pipes() {
    let sandbox = Sandbox::new();
    let hostile = "a\u{1b}]0;owned\u{7}\u{202e}b\u{200b}\rc";
    sandbox.ok(&[
        "new",
        "--id",
        "plan-1",
        "--title",
        hostile,
        "--principal",
        hostile,
        "--metadata",
        &format!("{{\"k\":\"{}\"}}", "\u{202e}v"),
    ]);
    sandbox.ok(&["append", "plan-1", "--text", &format!("{hostile}\nsecond line")]);
    sandbox.ok(&["fork", "plan-1", "--id", "plan-b", "--title", hostile]);
    for words in [
        &["show", "plan-1"][..],
        &["list"],
        &["tree"],
        &["log", "plan-1"],
        &["replay", "plan-1"],
        &["inspect", "plan-1"],
        &["diff", "plan-1", "plan-b"],
        &["fork", "plan-1"],
        &["new", "--title", hostile],
    ] {
        let shown = sandbox.run(words);
        let output = format!("{}{}", shown.out, shown.err);
        let raw = output
            .chars()
            .find(|c| matches!(c, '\u{1b}' | '\u{7}' | '\r' | '\u{202e}' | '\u{200b}'));
        assert_eq!((shown.code, raw), (0, None), "{words:?}: {output}");
    }
    let stored = sandbox.ok(&["--json", "log", "plan-1"]);
    assert!(stored.contains('\u{202e}') && stored.contains('\u{200b}'));
    assert_eq!(sandbox.json(&["show", "plan-1"])["session"]["title"], hostile);
}

#[test]
fn the_largest_numbers_are_added_up() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "plan-1"]);
    let usage = format!("{{\"input\":{0},\"output\":{0},\"cost\":1e308}}", u64::MAX);
    for _ in 0..2 {
        sandbox.ok(&["append", "plan-1", "--type", "provider_usage", "--data", &usage]);
    }
    sandbox.ok(&["stats"]);
    for words in [&["stats", "--models"][..], &["stats", "plan-1"]] {
        assert!(sandbox.ok(words).contains(" in (0 cached), "), "{words:?}");
    }
}
