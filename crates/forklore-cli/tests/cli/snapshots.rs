//! Tests of what one does with snapshots: `diff --files`, `show --files` and `gc --files`.

use std::fs;

use serde_json::{Value, json};

use crate::rewind::Project;

fn named(answer: &Value) -> Vec<(String, String)> {
    let changes = answer["changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    changes.map(|it| (text(&it["path"]), text(&it["change"]) + &text(&it["reason"]))).collect()
}

#[test]
fn files_of_two_positions_and_of_now_are_compared() {
    let project = Project::new("sqlite");
    project.write("a", "1\n2\n");
    let first = project.turn("one");
    project.write("a", "1\n3\n");
    project.write("new", "n\n");
    let second = project.turn("two");

    let diff = project.json(&["diff", "--files", "work@turn:1", "work", "--patch"]);
    assert_eq!((&diff["a"]["snapshot"], &diff["a"]["seq"]), (&first["snapshot"], &first["seq"]));
    assert_eq!(diff["b"]["snapshot"], second["snapshot"]);
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(2), &json!(1)));
    let changes = [("a", "modified"), ("new", "added")];
    assert_eq!(named(&diff), changes.map(|(path, kind)| (path.to_owned(), kind.to_owned())));
    assert!(diff["changes"][0]["patch"].as_str().unwrap().ends_with(" 1\n-2\n+3\n"), "{diff}");

    // The patch applies.
    let patch = project.run(&["diff", "--files", "work@turn:1", "work", "--patch"]).out;
    let file = project.sandbox.path().join("the.patch");
    fs::write(&file, patch).unwrap();
    project.git(&["apply", "--reverse", file.to_str().unwrap()]);
    assert_eq!((project.read("a"), project.read("new")), ("1\n2\n".into(), "missing".into()));

    // Against the folder as it is now, which no session names.
    let now = project.json(&["diff", "--files", "work"]);
    assert_eq!(
        (&now["b"]["session_id"], &now["b"]["snapshot"]),
        (&Value::Null, &first["snapshot"])
    );
    assert_eq!(named(&now)[1], ("new".to_owned(), "removed".to_owned()));
    let equal = project.run(&["diff", "--files", "work@turn:1"]);
    assert_eq!((equal.code, equal.out.trim()), (0, "The files are equal."));

    assert_eq!(
        project.error(&["diff", "--files", "work@turn:9", "work"]).1["kind"],
        "invalid_args"
    );
    assert_eq!(project.error(&["diff", "work"]).0, 2);
}

#[test]
fn what_a_person_reads_is_escaped() {
    let project = Project::new("sqlite");
    project.turn("one");
    project.write("a\u{1b}[2J", "hostile");
    project.write("b", b"\0\x1b");
    project.turn("two");
    let words = ["diff", "--files", "work@turn:1", "work"];
    let ran = project.run(&words);
    assert!(ran.out.contains(r"A a\u{1b}[2J  +1 -0"), "{ran:?}");
    assert!(ran.out.contains("A b  binary"), "{ran:?}");
    let shown = project.run(&["show", "work", "--files"]);
    assert!(shown.out.contains(r"added a\u{1b}[2J"), "{shown:?}");
    assert!(!(ran.out + &shown.out).contains('\u{1b}'));
}

#[test]
fn a_snapshot_is_shown_and_a_file_of_it_is_printed() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    let first = project.turn("one");
    project.write("a", "now");
    project.turn("two");
    let shown = project.json(&["show", "work", "--files"]);
    assert_eq!((&shown["before"], &shown["present"]), (&first["snapshot"], &json!(true)));
    assert_eq!(named(&shown), [("a".to_owned(), "modified".to_owned())]);
    let shown = project.json(&["show", "work", "--files", "--at", "turn:1"]);
    for key in ["snapshot", "seq", "folder", "commit", "branch", "files", "bytes", "left_out"] {
        assert_eq!(shown[key], first[key], "{key}");
    }
    assert_eq!((&shown["before"], &shown["changes"]), (&Value::Null, &json!([])));

    let ran = project.run(&["show", "work", "--files", "--at", "turn:1", "--get", "./a"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "then"));
    for (path, kind) in [("b", "not_found"), ("../a", "invalid_args"), ("/etc", "invalid_args")] {
        assert_eq!(project.error(&["show", "work", "--files", "--get", path]).1["kind"], kind);
    }
    fs::remove_dir_all(project.sandbox.path().join("the-store-snapshots")).unwrap();
    assert_eq!(project.json(&["show", "work", "--files"])["present"], false);
    assert_eq!(project.error(&["show", "work", "--files", "--get", "a"]).1["kind"], "not_found");
}

#[test]
fn a_path_of_a_rewind_is_inside_and_matches_something() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.turn("one");
    project.write("a", "now");
    for (path, kind) in [
        ("/etc", "invalid_args"),
        ("../a", "invalid_args"),
        ("b", "not_found"),
        ("a/b", "not_found"),
    ] {
        for dry_run in [&["--dry-run"][..], &["--yes"]] {
            let words = ["rewind", "work", "--at", "turn:1", "--path", path];
            let (code, error) = project.error(&[&words, dry_run].concat());
            assert_eq!((code, &error["kind"]), (2, &json!(kind)), "{path}");
        }
    }
    assert_eq!(project.read("a"), "now");
    assert_eq!(project.json(&["list", "--all"])["sessions"].as_array().unwrap().len(), 1);
    let (_, error) = project.error(&["snapshot", "work", "--folder", "/nowhere"]);
    assert_eq!(error["next_actions"][0], "name the folder that has the files: --folder DIR");
}

#[test]
fn undo_without_anything_creates_nothing() {
    let project = Project::new("sqlite");
    assert_eq!(project.error(&["undo"]).1["kind"], "not_found");
    assert!(!project.sandbox.path().join("the-store-snapshots").exists());
}

#[test]
fn snapshots_go_when_no_session_and_no_undo_needs_them() {
    let project = Project::new("sqlite");
    let collect = |words: &[&str]| {
        let done = project.json(&[&["gc"], words].concat());
        (done["snapshots"].clone(), done["needed"].clone())
    };
    assert_eq!(collect(&["--files"]), (json!(0), json!(0)));
    project.write("a", "1");
    project.turn("one");
    project.write("a", "2");
    project.turn("two");
    project.write("a", "3");
    // Nobody names the state of now.
    project.json(&["diff", "--files", "work"]);
    assert_eq!(collect(&["--files", "--dry-run"]), (json!(1), json!(2)));
    assert_eq!(collect(&["--files"]), (json!(1), json!(2)));
    // An undo needs it now. The fork inherits the first one.
    let rewound = project.json(&["rewind", "work", "--at", "turn:1"]);
    let fork = rewound["forked"]["child_session_id"].as_str().unwrap();
    assert_eq!(collect(&["--files"]), (json!(0), json!(3)));
    project.json(&["delete", "work", "--detach-children"]);
    assert_eq!(collect(&["--files"]), (json!(0), json!(3)));
    // The second turn is named only in what is erased now.
    project.json(&["gc", "--now"]);
    assert_eq!(collect(&["--files"]), (json!(0), json!(2)));
    assert_eq!(project.json(&["show", fork, "--files"])["present"], true);
    let undone = project.error(&["undo"]);
    assert_ne!(undone.1["kind"], "internal", "{undone:?}");
}
