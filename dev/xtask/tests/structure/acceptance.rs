//! The tests that docs/acceptance.md names are there.

use std::collections::BTreeSet;
use std::fs;

use crate::assert_none;
use crate::tree::{self, sources};

/// How many rules there are; their numbers never move.
const RULES: usize = 70;

/// The rows of the table: the number of a rule, and the tests that hold it.
fn rows(page: &str) -> Vec<(usize, Vec<&str>)> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split(" | ").collect();
        let [number, _, tests] = cells.as_slice() else { return None };
        let named = tests.split('`').skip(1).step_by(2).filter(|word| word.contains("::"));
        Some((number.trim().parse().ok()?, named.collect()))
    });
    rows.collect()
}

/// The names of functions, and of cases that a macro makes tests of.
fn names() -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for file in sources() {
        for word in file.text.split(|c| !is_word(c)) {
            if word.contains('_') {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

#[test]
fn every_rule_has_tests_that_are_there() {
    let page = fs::read_to_string(tree::root().join("docs/acceptance.md")).unwrap();
    let rows = rows(&page);
    let numbers: Vec<_> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=RULES).collect::<Vec<_>>());
    let there = names();
    let mut wrong = Vec::new();
    for (number, tests) in rows {
        if tests.is_empty() {
            wrong.push(format!("rule {number} has no test"));
        }
        let lost = tests
            .iter()
            .filter(|test| !test.rsplit("::").next().is_some_and(|name| there.contains(name)));
        wrong.extend(lost.map(|test| format!("rule {number}: there is no test {test}")));
    }
    assert_none(&wrong);
}
