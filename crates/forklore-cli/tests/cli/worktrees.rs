//! Tests of `fork --worktree`, `fork --in-place` and `worktrees`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::rewind::Project;

/// Returns all files below a folder, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    found
}

/// A fork has the files of the cut in a folder of its own, changed ones and untracked ones too. Both
/// go on apart, and what the fork came to is merged. Its removal leaves the repository as it was.
#[test]
fn a_fork_works_in_a_worktree_and_its_files_are_brought_back() {
    let project = Project::new("sqlite");
    project.write("config.toml", "level = 1\nmode = 1\nrest = 1\nlast = 1\n");
    project.write("results/run-1.csv", "1\n");
    project.turn("begin");
    project.write("results/run-1.csv", "later\n");
    let git = project.folder().join(".git");
    let before = files(&git);

    let forked =
        project.json(&["fork", "work", "--at", "turn:1", "--worktree", "--label", "plan-b"]);
    let folder = project.folder().with_file_name("project.worktrees").join("plan-b");
    assert_eq!(forked["worktree"], folder.to_str().unwrap());
    let fork = forked["child_session_id"].as_str().unwrap();
    assert_eq!(project.json(&["show", fork])["session"]["workspace"], forked["worktree"]);
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    assert_eq!(read("results/run-1.csv"), "1\n");
    let status = project.git(&["-C", folder.to_str().unwrap(), "status", "--porcelain"]);
    assert_eq!(status, " M config.toml\n?? results/\n");
    let listed = project.json(&["worktrees", "list"]);
    let one = &listed["worktrees"][0];
    assert_eq!((&one["session_id"], &one["state"]), (&json!(fork), &json!("ready")));

    // The fork and the user change different lines of one file.
    fs::write(folder.join("config.toml"), "level = 2\nmode = 1\nrest = 1\nlast = 1\n").unwrap();
    project.write("config.toml", "level = 1\nmode = 1\nrest = 1\nlast = 9\n");
    project.json(&["append", fork, "--type", "user_message", "--text", "raise it"]);
    project.json(&["append", fork, "--type", "assistant_message", "--text", "raised"]);
    project.json(&["snapshot", fork]);
    project.json(&["bring", fork, "--into", "work", "--files"]);
    assert_eq!(project.read("config.toml"), "level = 2\nmode = 1\nrest = 1\nlast = 9\n");
    assert_eq!(project.read("results/run-1.csv"), "later\n");

    let removed = project.json(&["worktrees", "remove", fork, "--yes"]);
    assert!(removed["snapshot"].is_string(), "{removed}");
    assert!(!folder.exists());
    assert_eq!(files(&git), before);
    assert_eq!(project.json(&["worktrees", "list"])["worktrees"], json!([]));
}

#[test]
fn a_fork_at_the_end_begins_with_the_present_files_without_git_too() {
    let project = Project::new("files");
    project.turn("begin");
    fs::remove_dir_all(project.folder().join(".git")).unwrap();
    project.write("new", "present");
    let folder = project.folder().with_file_name("elsewhere");
    let option = format!("--worktree={}", folder.display());
    let planned = project.json(&["fork", "work", &option, "--dry-run"]);
    assert_eq!((&planned["worktree"], folder.exists()), (&json!(folder), false));
    let apply = planned["apply"].as_str().unwrap();
    assert!(apply.contains(" --worktree=") && !apply.contains(" --at "), "{apply}");
    let forked = project.json(&["fork", "work", &option]);
    assert_eq!(forked["worktree"], folder.to_str().unwrap());
    assert_eq!(fs::read_to_string(folder.join("new")).unwrap(), "present");
    let removed = project.json(&["worktrees", "remove", folder.to_str().unwrap(), "--yes"]);
    assert_eq!(removed["worktree"]["session_id"], forked["child_session_id"]);
    assert!(!folder.exists());
}

#[test]
fn a_worktree_that_cannot_be_made_leaves_no_fork() {
    let project = Project::new("sqlite");
    project.turn("begin");
    let sessions = || project.json(&["list", "--all"])["sessions"].as_array().unwrap().len();
    let inside = format!("--worktree={}", project.folder().join("inside").display());
    let occupied = project.folder().with_file_name("occupied");
    fs::create_dir_all(&occupied).unwrap();
    fs::write(occupied.join("mine"), "1").unwrap();
    let occupied = format!("--worktree={}", occupied.display());
    let kind = |words: &[&str]| project.error(words).1["kind"].clone();
    assert_eq!(kind(&["fork", "work", &inside]), "invalid_args");
    assert_eq!(kind(&["fork", "work", &occupied]), "already_exists");
    assert_eq!(kind(&["fork", "work", "--at", "start", "--worktree"]), "not_found");
    assert_eq!(kind(&["fork", "work", "--worktree", "--summarize=model"]), "invalid_args");
    assert_eq!(kind(&["worktrees", "remove", "work", "--yes"]), "not_found");
    assert_eq!(kind(&["worktrees", "remove", "/nowhere", "--yes"]), "not_found");
    assert_eq!(sessions(), 1);
    assert_eq!(project.json(&["worktrees", "list"])["worktrees"], json!([]));
}

#[test]
fn a_fork_with_a_rewind_brings_the_folder_back_and_is_undone() {
    let project = Project::new("sqlite");
    project.write("a", "then");
    project.turn("one");
    project.write("a", "now");
    let forked =
        project.json(&["fork", "work", "--at", "turn:1", "--in-place", "--label", "again"]);
    let forked: &Value = &forked["forked"];
    assert_eq!((&forked["label"], project.read("a")), (&json!("again"), "then".to_owned()));
    project.json(&["undo", "--yes"]);
    assert_eq!(project.read("a"), "now");
}
