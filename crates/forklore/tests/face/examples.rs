//! Tests that the examples produce the promised output.

use std::fs;

use forklore_conformance::{CASES, Capability, Case};
use futures_lite::future::block_on;

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/agent_loop.rs"]
mod agent_loop;
#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/best_of_n.rs"]
mod best_of_n;
#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/custom_store.rs"]
mod custom_store;

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap()
}

#[test]
fn the_agent_follows_both_plans() {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    fs::create_dir(&notes).unwrap();
    for (name, lines) in [("long.txt", 40), ("middle.txt", 20), ("short.txt", 3)] {
        fs::write(notes.join(name), "a line\n".repeat(lines)).unwrap();
    }
    let url = format!("sqlite:{}", dir.path().join("store.db").display());
    let mut out = Vec::new();
    block_on(agent_loop::run(&url, &notes, &mut out)).unwrap();
    let expected = "\
main: 2 plans are possible
plan-1: Split long.txt: 20 of its 40 lines stay.
plan-2: Split middle.txt: 10 of its 20 lines stay.
plan-1 and plan-2: 4 in common, then 4 each
";
    assert_eq!(text(out), expected);

    // Another program can read what the example wrote, and no session is leased any more.
    let engine = forklore::blocking::open(&url).unwrap();
    let trees = engine.tree(&Default::default()).unwrap();
    let labels: Vec<_> = trees.nodes.iter().filter_map(|node| node.header.as_ref()).collect();
    let labels: Vec<_> = labels.iter().map(|header| header.label.as_str()).collect();
    assert_eq!(labels, ["main", "plan-1", "plan-2"]);
    for node in &trees.nodes {
        assert_eq!(engine.show(&node.session_id).unwrap().lease, None);
        assert!(engine.inspect(&node.session_id).unwrap().balanced);
    }
}

#[test]
fn an_agent_without_a_choice_answers() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("only.txt"), "a line\n").unwrap();
    let mut out = Vec::new();
    block_on(agent_loop::run("memory:", dir.path(), &mut out)).unwrap();
    assert_eq!(text(out), "main: There is nothing to choose from.\n");
}

#[test]
fn the_best_of_six_gets_the_label() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("store.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut out = Vec::new();
    runtime.block_on(best_of_n::run(&url, &mut out)).unwrap();
    let expected = "  25  the_events_behind_the_cut
   7  events_behind
   2  cut_tail
  -4  tail
  -5  do_it
 -32  getEventsAfterCut
best: 3 of 4 events are its own
504 bytes were not stored again
";
    assert_eq!(text(out), expected);
    let engine = forklore::blocking::open(&url).unwrap();
    let best = engine.resolve("@best", &Default::default()).unwrap();
    let messages = engine.inspect(&best.id).unwrap().messages;
    let last = messages.last().unwrap().plain_text();
    assert_eq!((last.as_str(), messages.len()), ("the_events_behind_the_cut", 2));
}

/// Starts several processes: the suite runs this test again for the cases that need them.
#[test]
fn crowd_a_store_of_ones_own_passes_the_suite() {
    let mut out = Vec::new();
    let checked = custom_store::check(&mut out);
    let report = text(out);
    assert!(checked.is_ok(), "{report}");
    let count =
        |word| report.lines().filter(|line| line.split_whitespace().nth(1) == Some(word)).count();
    // The store reports that it has no sources, and the example has no code that damages it.
    let lacking = |case: &&Case| matches!(case.needs, Capability::Sources | Capability::Loss);
    let (cases, lacks) = (CASES.len(), CASES.iter().filter(lacking).count());
    assert_eq!((count("pass"), count("FAIL"), count("not")), (cases - lacks, 0, lacks), "{report}");
    assert!(report.ends_with("the trail of a fork has 3 lines\n"), "{report}");
}
