//! Tests of the limit of fork depth: the Trails profile, and `--max-fork-depth` for other stores.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};
use crate::scripted::Scripted;

/// Returns a session file of Pi with nested branches: each branch begins inside the branch before
/// it.
fn nested(branches: usize) -> String {
    let header = json!({"type": "session", "version": 3, "id": "nested", "cwd": "/demo",
        "timestamp": "2026-01-01T00:00:00.000Z"});
    let message = |id: String, parent: Option<String>| {
        let role = if id.starts_with('x') { "user" } else { "assistant" };
        json!({"type": "message", "id": id, "parentId": parent,
            "timestamp": "2026-01-01T00:00:01.000Z",
            "message": {"role": role, "content": [{"type": "text", "text": id}]}})
    };
    let mut lines = vec![header];
    for at in 0..=branches {
        lines.push(message(format!("x{at}"), at.checked_sub(1).map(|above| format!("x{above}"))));
        lines.push(message(format!("y{at}"), Some(format!("x{at}"))));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(feature = "graph")]
#[test]
fn no_import_and_no_other_name_of_the_store_passes_the_trails_profile() {
    let sandbox = Sandbox::new();
    let store = format!("graph:{}/store?profile=trails", sandbox.path().display());
    let json = |words: &[&str]| {
        let ran = ran(sandbox.command(&[&["--json", "--store", &store, "--all"], words].concat()));
        let last = ran.out.lines().last().unwrap_or_default().to_owned();
        (ran.code, serde_json::from_str::<Value>(&last).unwrap())
    };
    let file = sandbox.file("nested.jsonl", &nested(70));
    let (code, imported) = json(&["import", file.to_str().unwrap()]);
    assert_eq!((code, &imported["problems"]), (0, &json!([])), "{imported}");
    let (_, list) = json(&["list", "--limit", "0"]);
    let sessions = list["sessions"].as_array().unwrap();
    let copies: Vec<_> = {
        let copied = sessions.iter().filter(|session| session["strategy"] == "replay_v1");
        let mut depths: Vec<_> = copied.map(|copy| copy["depth"].as_u64().unwrap()).collect();
        depths.sort_unstable();
        depths
    };
    // The branch that would be the 33rd link copies its history, and the links count again from it.
    assert_eq!((sessions.len(), copies), (71, vec![33, 66]));
    let deepest = sessions.iter().find(|session| session["depth"] == 70).unwrap();
    let (_, replayed) = json(&["replay", deepest["id"].as_str().unwrap()]);
    assert_eq!((&replayed["index"], &replayed["content"]), (&json!(71), &json!("y70")));

    let journal = format!("files:{}/store/journal", sandbox.path().display());
    let refused = ran(sandbox.command(&["--store", &journal, "list"]));
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(refused.err.contains("is a part of the graph store"), "{refused:?}");
}

#[test]
fn the_depth_of_any_store_can_be_limited() {
    let sandbox = Sandbox::with_a_plan();
    let fork = |parent: &str, child: &str| -> Vec<String> {
        ["fork", parent, "--id", child, "--max-fork-depth", "2"].map(str::to_owned).into()
    };
    let run = |words: &[String]| {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        sandbox.run(&words)
    };
    for (parent, child) in [("plan-1", "one"), ("one", "two")] {
        assert_eq!(run(&fork(parent, child)).code, 0);
    }
    let refused = run(&fork("two", "three"));
    assert_eq!(refused.code, 4, "{refused:?}");
    let hints = ["forklore detach two", "forklore fork two --strategy replay_v1"];
    assert!(hints.iter().all(|hint| refused.err.contains(hint)), "{refused:?}");
    // A summary changes nothing about it, and the model is not asked.
    let model = Scripted::start(&[]);
    sandbox.file("config.toml", &model.config());
    let words = ["fork", "two", "--id", "three", "--max-fork-depth", "2", "--summarize=model"];
    let mut summarized = sandbox.command(&words);
    summarized.env("FORKLORE_CONFIG", sandbox.path().join("config.toml"));
    let summarized = ran(summarized);
    assert_eq!((summarized.code, summarized.err.lines().next()), (4, refused.err.lines().next()));
    assert_eq!(model.requests().len(), 0);
    let copy = [fork("two", "three"), vec!["--strategy".into(), "replay_v1".into()]].concat();
    assert_eq!(run(&copy).code, 0);
    assert_eq!(run(&fork("three", "four")).code, 0);
}
