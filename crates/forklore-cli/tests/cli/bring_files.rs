//! Tests of `bring --files`: the files of a branch are merged into the user's folder.

use std::fs;

use serde_json::json;

use crate::rewind::Project;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// Makes a session with a snapshot, and a branch of it whose agent worked in a folder of its own:
/// it changed a line and wrote results.
fn explored() -> Project {
    let project = Project::new("sqlite");
    project.write("code.txt", LINES);
    project.turn("begin");
    project.json(&["fork", "work", "--id", "try-1", "--label", "try-1"]);
    let other = project.folder().with_file_name("other");
    fs::create_dir(&other).unwrap();
    for file in ["code.txt", "config.toml", ".gitignore"] {
        fs::copy(project.folder().join(file), other.join(file)).unwrap();
    }
    fs::write(other.join("code.txt"), LINES.replace("two", "2")).unwrap();
    fs::write(other.join("results.csv"), "1,2\n").unwrap();
    project.json(&["append", "try-1", "--type", "user_message", "--text", "do it"]);
    project.json(&["append", "try-1", "--type", "assistant_message", "--text", "did it"]);
    project.json(&["snapshot", "try-1", "--folder", other.to_str().unwrap()]);
    project
}

const BRING: [&str; 5] = ["bring", "try-1", "--into", "work", "--files"];

#[test]
fn the_winners_files_meet_the_users_own_edits_and_can_be_undone_and_merged_again() {
    let project = explored();
    project.write("code.txt", LINES.replace("six", "6"));
    project.write("mine", "1");
    let read = || ["code.txt", "results.csv", "mine"].map(|path| project.read(path));
    let merged = LINES.replace("two", "2").replace("six", "6");
    let both = [merged, "1,2\n".into(), "1".into()];
    let before = [LINES.replace("six", "6"), "missing".into(), "1".into()];

    let plan = project.json(&[&BRING[..], &["--dry-run"]].concat());
    let changes = [("code.txt", "modified"), ("results.csv", "added")];
    let changes = changes.map(|(path, reason)| json!({"path": path, "reason": reason}));
    assert_eq!(plan["files"]["restored"]["changes"], json!(changes));
    assert_eq!((&plan["recorded"], read()), (&json!(false), before.clone()));

    let brought = project.json(&BRING);
    assert_eq!((&brought["recorded"], &brought["answer"]), (&json!(true), &json!("did it")));
    assert_eq!(
        (&brought["files"]["number"], &brought["files"]["conflicts"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(read(), both);

    project.json(&["undo", "--yes"]);
    assert_eq!(read(), before);
    let again = project.json(&BRING);
    assert_eq!((&again["existing"], read()), (&json!(true), both));
}

#[test]
fn a_conflict_is_marked_and_named_and_scripts_see_it() {
    let project = explored();
    project.write("code.txt", LINES.replace("two", "II"));
    let (code, error) = project.error(&BRING);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")), "{error}");
    let marked = "<<<<<<< yours\nII\n=======\n2\n>>>>>>> brought\n";
    assert_eq!(project.read("code.txt"), LINES.replace("two\n", marked));
    assert_eq!(project.read("results.csv"), "1,2\n");
    project.json(&["undo"]);
    assert_eq!(project.read("code.txt"), LINES.replace("two", "II"));
}

#[test]
fn sessions_without_a_common_snapshot_are_refused_before_anything_changes() {
    let project = Project::new("sqlite");
    project.json(&["append", "work", "--type", "user_message", "--text", "begin"]);
    project.json(&["fork", "work", "--id", "try-1"]);
    project.json(&["append", "try-1", "--type", "assistant_message", "--text", "did it"]);
    project.json(&["snapshot", "try-1"]);
    let before = project.json(&["show", "work"]);
    let (_, error) = project.error(&BRING);
    let message = "try-1 and work have no snapshot in common";
    assert_eq!((&error["kind"], &error["message"]), (&json!("not_found"), &json!(message)));
    assert_eq!(project.json(&["show", "work"]), before);
}

#[test]
fn a_branch_without_a_snapshot_of_its_own_has_no_files_to_bring() {
    let project = Project::new("sqlite");
    project.turn("begin");
    project.json(&["fork", "work", "--id", "try-1"]);
    project.json(&["append", "try-1", "--type", "assistant_message", "--text", "did it"]);
    let (_, error) = project.error(&BRING);
    assert_eq!(error["kind"], "not_found");
    let message = error["message"].as_str().unwrap();
    assert_eq!(message, "try-1 has no snapshot of its files since it parted from work");
}

#[test]
fn a_branch_that_says_nothing_new_brings_its_files_alone() {
    let project = Project::new("sqlite");
    project.turn("begin");
    project.json(&["fork", "work", "--id", "try-1", "--worktree"]);
    let folder = project.json(&["worktrees", "list"])["worktrees"][0]["folder"].clone();
    let folder = std::path::PathBuf::from(folder.as_str().unwrap());
    fs::write(folder.join("results.csv"), "1,2\n").unwrap();
    project.json(&["snapshot", "try-1"]);
    let (_, error) = project.error(&BRING[..4]);
    assert_eq!(error["details"]["reason"], "nothing_to_bring", "{error}");

    let plan = project.json(&[&BRING[..], &["--dry-run"]].concat());
    assert_eq!((&plan["dry_run"], project.read("results.csv")), (&json!(true), "missing".into()));
    let brought = project.json(&BRING);
    assert_eq!(
        (&brought["recorded"], &brought["from_index"]),
        (&json!(false), &brought["to_index"])
    );
    assert_eq!(project.read("results.csv"), "1,2\n");
}
