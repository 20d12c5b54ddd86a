//! Tests of `resume-in codex --share`, which writes a file that refers to the original file for its
//! history.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The path of a session file that a real Codex wrote. Its records have ordinals.
const ORIGINAL: &str =
    "2026/11/21/rollout-2026-11-21T21-04-08-01a1ffec-73dc-78c3-be0b-ef8fc516de95.jsonl";
const SESSION: &str = "01a1ffec-73dc-78c3-be0b-ef8fc516de95";

/// Creates an environment with the file [`ORIGINAL`] in its Codex folder. Imports the session, and
/// forks it after its fourth message.
fn forked() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let genuine =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codex/genuine/sessions");
    let original = sandbox.path().join("home/.codex/sessions").join(ORIGINAL);
    fs::create_dir_all(original.parent().unwrap()).unwrap();
    fs::copy(genuine.join(ORIGINAL), &original).unwrap();
    sandbox.ok(&["import", "home/.codex/sessions"]);
    sandbox.ok(&["fork", SESSION, "--at", "message:3", "--id", "plan-b"]);
    (sandbox, original)
}

/// Returns every file below a folder, with its contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn first_line(text: &[u8]) -> Value {
    serde_json::from_slice(text.split(|byte| *byte == b'\n').next().unwrap()).unwrap()
}

#[test]
fn codex_is_given_a_file_that_begins_in_the_original() {
    let (sandbox, original) = forked();
    let home = sandbox.path().join("home/.codex");
    let before = files(&home);
    sandbox.ok(&["append", "plan-b", "--text", "and now?"]);
    let words = ["resume-in", "codex", "plan-b", "--share"];

    let dry = sandbox.json(&[&words[..], &["--dry-run"]].concat());
    assert_eq!((files(&home) == before, &dry["dry_run"]), (true, &json!(true)));
    let answer = [sandbox.json(&words), sandbox.json(&words)];
    let mut after = files(&home);
    for reported in &answer {
        let path = Path::new(reported["path"].as_str().unwrap());
        let written = after.remove(path).expect("a new file for each");
        assert_eq!(reported["events"], json!(1), "only what was written here");
        let begun = first_line(&written);
        let base = &begun["payload"]["history_base"];
        // The new file refers to exactly the bytes of the original up to the last record before the
        // fork.
        let bytes = usize::try_from(base["end_byte_offset"].as_u64().unwrap()).unwrap();
        let shared = &before[&original][..bytes];
        assert_eq!(base["thread_id"], SESSION);
        let last = shared.strip_suffix(b"\n").unwrap();
        let last = first_line(last.rsplit(|byte| *byte == b'\n').next().unwrap());
        let end = base["end_ordinal_exclusive"].as_u64().unwrap();
        assert_eq!(last["ordinal"].as_u64(), Some(end - 1));
        assert_eq!(begun["ordinal"].as_u64(), Some(end));
        let id = begun["payload"]["id"].as_str().unwrap();
        let start = reported["start"][0].as_str().unwrap();
        assert!(start.ends_with(&format!("codex resume {id}")), "{start}");
        assert!(path.to_str().unwrap().ends_with(&format!("-{id}.jsonl")), "{reported}");

        // forklore imports the new file as a branch that shares the original's history.
        let read = sandbox.json(&["import", path.to_str().unwrap()]);
        let read = &read["sessions"][0];
        assert_eq!(
            (&read["session_id"], &read["parent_session_id"]),
            (&json!(id), &json!(SESSION))
        );
        assert_eq!(read["cut"]["index"], json!(4));
        let texts = |session: &str| {
            let messages = sandbox.json(&["inspect", session])["messages"].clone();
            let messages = messages.as_array().unwrap().iter();
            messages.map(|message| message["content"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(id), texts("plan-b"));
    }
    assert!(after == before, "no file that was there has changed");
    assert!(sandbox.ok(&words).contains("codex resume "));
}

#[test]
fn a_history_that_codex_has_not_as_it_was_read_is_not_shared() {
    let (sandbox, original) = forked();
    let refused = |words: &[&str], why: &str| {
        let words = [&["resume-in", "codex", "plan-b", "--share"], words].concat();
        let (code, error) = sandbox.error(&words);
        assert_eq!((code, &error["kind"]), (4, &json!("conflict")), "{error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    };
    fs::create_dir(sandbox.path().join("elsewhere")).unwrap();
    refused(&["--home", "elsewhere"], "not the agent's own");
    let text = fs::read_to_string(&original).unwrap();
    fs::write(&original, text.lines().take(3).collect::<Vec<_>>().join("\n")).unwrap();
    refused(&[], "has changed");
    // A session that was not imported has no file to share.
    sandbox.ok(&["new", "--id", "own"]);
    sandbox.ok(&["append", "own", "--text", "hello"]);
    let (code, error) = sandbox.error(&["resume-in", "codex", "own", "--share"]);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")));
    assert_eq!(files(&sandbox.path().join("home/.codex")).len(), 1, "nothing was written");
}
