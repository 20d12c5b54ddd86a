//! Tests of the manual pages, one for each command.

use std::fs;

use crate::sandbox::{Sandbox, snapshot};

#[test]
fn a_page_is_printed() {
    let sandbox = Sandbox::new();
    let page = sandbox.ok(&["man", "label"]);
    snapshot!(page);
    assert_eq!(sandbox.json(&["man", "label"])["text"].as_str(), Some(&*page));
    let program = sandbox.ok(&["man"]);
    assert!(
        program.contains(".TH forklore 1") && program.contains("forklore\\-fork(1)"),
        "{program}"
    );
}

#[test]
fn every_command_has_a_page() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path().join("man/man1");
    let answer = sandbox.json(&["man", "--out", folder.to_str().unwrap()]);
    let mut pages: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).collect();
    pages.sort_by_key(fs::DirEntry::file_name);
    let names: Vec<_> = pages.iter().map(|page| page.file_name().into_string().unwrap()).collect();
    let mut messages: Vec<_> =
        answer["pages"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    messages.sort_unstable();
    assert_eq!(names, messages);
    assert_eq!(names.len(), 80, "{names:?}");
    for (page, name) in pages.iter().zip(&names) {
        let text = fs::read_to_string(page.path()).unwrap();
        let name = name.trim_end_matches(".1");
        assert!(text.contains(&format!(".TH {name} 1")), "{name}: {text}");
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
    }
    // Write the pages again, as after an upgrade: existing pages are overwritten.
    assert_eq!(sandbox.json(&["man", "--out", folder.to_str().unwrap()]), answer);
}

#[test]
fn there_is_no_page_of_what_is_no_command() {
    assert_eq!(Sandbox::new().error(&["man", "../etc/passwd"]).0, 2);
}
