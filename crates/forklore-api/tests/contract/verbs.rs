//! Tests that the verbs and their requests match.

use std::collections::BTreeSet;

use forklore_api::ANSWERS;

use crate::bad_input::requests;
use crate::fits::SCHEMA;

/// The verbs that exist only in a terminal, so that no request exists for them.
const ONLY_IN_A_TERMINAL: &[&str] = &[
    "import --watch",
    "log --follow",
    "snapshot",
    "rewind",
    "undo",
    "fork --in-place",
    "worktrees list",
    "worktrees remove",
    "diff --files",
    "show --files",
    "gc --files",
    "push",
    "pull",
    "clone",
    "handoff",
    "remote list",
    "remote add",
    "remote remove",
    "verify --anchors FILE",
    "anchor",
    "tier init",
    "tier status",
    "serve",
    "token list",
    "token add",
    "token revoke",
    "config show",
    "config check",
    "config init",
    "config edit",
    "install mcp",
    "hooks install",
    "hooks remove",
    "hooks list",
    "completions",
    "man",
    "man --out DIR",
    "help COMMAND, COMMAND --help",
    "--version",
];

/// Returns the names of the variants of `Request`.
fn variants() -> BTreeSet<&'static str> {
    let variants = SCHEMA["$defs"]["Request"]["oneOf"].as_array().unwrap();
    let names = variants.iter().flat_map(|variant| variant["properties"].as_object().unwrap());
    names.map(|(name, _)| name.as_str()).collect()
}

#[test]
fn every_verb_has_a_request_and_every_request_a_verb() {
    let without: Vec<_> = ANSWERS.iter().filter(|verb| verb.request.is_none()).collect();
    let without: Vec<_> = without.iter().map(|verb| verb.usage).collect();
    assert_eq!(without, ONLY_IN_A_TERMINAL);
    let requests: BTreeSet<_> = ANSWERS.iter().filter_map(|verb| verb.request).collect();
    assert_eq!(requests, variants());
}

#[test]
fn the_tests_of_bad_input_have_every_request() {
    let requests = requests();
    let names = requests.iter().flat_map(|request| request.as_object().unwrap().keys());
    let names: Vec<_> = names.map(String::as_str).collect();
    assert_eq!(names.len(), variants().len());
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), variants());
}
