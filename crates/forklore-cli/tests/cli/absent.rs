//! Tests of commands on a store that does not exist: only commands that make a session create it.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};

/// Commands that make no session. If the store does not exist, they find nothing and succeed.
const LOOKS: [&[&str]; 8] = [
    &["list"],
    &["list", "--all"],
    &["tree"],
    &["stats", "--all"],
    &["verify"],
    &["gc"],
    &["pack"],
    &["import", "--discover"],
];

/// Commands about one session. If the store does not exist, they fail with `not_found`.
const OF_A_SESSION: [&[&str]; 9] = [
    &["show", "last"],
    &["log", "nobody"],
    &["replay", "@main"],
    &["fork", "nobody"],
    &["append", "nobody", "--text", "hello"],
    &["label", "nobody", "other"],
    &["delete", "nobody"],
    &["new", "--parent", "nobody"],
    &["export", "nobody", "--to", "plain"],
];

fn run(sandbox: &Sandbox, store: Option<&str>, words: &[&str]) -> Ran {
    let named = store.map(|url| ["--store", url]);
    let named = named.as_ref().map_or(&[][..], |named| &named[..]);
    let mut command = sandbox.command(&[&["--json"], named, words].concat());
    command.env_remove("FORKLORE_STORE");
    ran(command)
}

fn run_in(sandbox: &Sandbox, variable: &str, words: &[&str]) -> Ran {
    let mut command = sandbox.command(&[&["--json"], words].concat());
    command.env("FORKLORE_STORE", variable);
    ran(command)
}

fn kind(ran: &Ran) -> Value {
    let answer: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    answer["error"]["kind"].clone()
}

/// Returns the names in a folder and in the folders below it.
fn below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<_> = entries
        .flat_map(|path| {
            let deeper = if path.is_dir() { below(&path) } else { Vec::new() };
            deeper.into_iter().chain([path.display().to_string()])
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_named_store_that_is_not_there_is_not_found_and_is_not_made() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().display();
    let mut urls = vec![format!("sqlite:{dir}/typo/x.db"), format!("files:{dir}/typo")];
    if cfg!(feature = "graph") {
        urls.push(format!("graph:{dir}/typo"));
        urls.push(format!("graph:{dir}/typo?profile=trails"));
    }
    let before = below(sandbox.path());
    for url in &urls {
        for words in LOOKS.iter().chain(&OF_A_SESSION) {
            for refused in [run(&sandbox, Some(url), words), run_in(&sandbox, url, words)] {
                let found = (refused.code, kind(&refused));
                assert_eq!(found, (2, json!("not_found")), "{url} {words:?}: {refused:?}");
            }
        }
        let output = ran(sandbox.command(&["--store", url, "list"])).err;
        let path = url.split_once(':').unwrap().1.split('?').next().unwrap();
        let hint = "look for a mistyped name, or begin a store there: forklore --store";
        assert!(output.starts_with(&format!("error: there is no store at {path}\n")), "{output}");
        assert!(
            output.contains(&format!("  try: {hint} ")) && output.ends_with(" new\n"),
            "{output}"
        );
    }
    assert_eq!(below(sandbox.path()), before);
    let mut command = sandbox.command(&["list"]);
    command.env("FORKLORE_STORE", &urls[0]);
    let expected = format!(
        "error: there is no store at {dir}/typo/x.db, which FORKLORE_STORE names\n  \
         try: look for a mistyped name, or begin a store there: forklore new\n"
    );
    assert_eq!(ran(command).err, expected);
    // The environment names the default store by an empty name.
    for variable in ["", "sqlite:"] {
        assert_eq!(run_in(&sandbox, variable, &["list"]).code, 0);
    }
    for url in &urls[..2] {
        assert_eq!(run(&sandbox, Some(url), &["new", "--id", "first"]).code, 0, "{url}");
        assert_eq!(run(&sandbox, Some(url), &["show", "first"]).code, 0, "{url}");
        std::fs::remove_dir_all(sandbox.path().join("typo")).unwrap();
        assert_eq!(run_in(&sandbox, url, &["new", "--id", "first"]).code, 0, "{url}");
        assert_eq!(run_in(&sandbox, url, &["show", "first"]).code, 0, "{url}");
        std::fs::remove_dir_all(sandbox.path().join("typo")).unwrap();
    }
}

#[test]
fn a_store_whose_file_is_gone_is_damaged_for_every_command() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("gone.db");
    let url = format!("sqlite:{}", path.display());
    assert_eq!(run(&sandbox, Some(&url), &["new", "--id", "first"]).code, 0);
    let file = sandbox.file("notes.txt", "notes");
    let attach = ["attach", "first", file.to_str().unwrap()];
    assert_eq!(run(&sandbox, Some(&url), &attach).code, 0);
    std::fs::remove_file(&path).unwrap();
    let making: &[&[&str]] = &[&["new", "--id", "second"], &["show", "first"]];
    for words in LOOKS.iter().chain(making) {
        let refused = run(&sandbox, Some(&url), words);
        assert_eq!((refused.code, kind(&refused)), (6, json!("corrupt")), "{words:?}: {refused:?}");
        let output = ran(sandbox.command(&[&["--store", &*url], *words].concat())).err;
        assert!(!output.contains("begin a store there"), "{output}");
    }
    assert!(!path.exists());
}

#[test]
fn an_empty_folder_is_no_store_yet() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path().join("empty");
    std::fs::create_dir(&folder).unwrap();
    for kind in if cfg!(feature = "graph") { &["files", "graph"][..] } else { &["files"] } {
        let url = format!("{kind}:{}", folder.display());
        assert_eq!(run(&sandbox, Some(&url), &["list"]).code, 2, "{url}");
    }
    assert_eq!(below(&folder), Vec::<String>::new());
}

#[test]
fn the_default_store_is_empty_until_a_session_is_made() {
    let sandbox = Sandbox::new();
    let before = below(sandbox.path());
    for words in LOOKS {
        let looked = run(&sandbox, None, words);
        assert_eq!(looked.code, 0, "{words:?}: {looked:?}");
    }
    for words in OF_A_SESSION {
        let refused = run(&sandbox, None, words);
        assert_eq!((refused.code, kind(&refused)), (2, json!("not_found")), "{words:?}");
    }
    assert_eq!(below(sandbox.path()), before);
    assert_eq!(run(&sandbox, None, &["new", "--id", "first"]).code, 0);
    assert_eq!(run(&sandbox, None, &["show", "first"]).code, 0);
}

#[test]
fn a_session_file_is_imported_into_a_store_that_is_made_for_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("plain.jsonl", "{\"role\":\"user\",\"content\":\"hello\"}\n");
    let file = file.to_str().unwrap();
    assert_eq!(run(&sandbox, None, &["import", file, "--from", "plain"]).code, 0);
    assert_eq!(run(&sandbox, None, &["show", "last"]).code, 0);
}
