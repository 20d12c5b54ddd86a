//! Tests that every test named in `docs/acceptance.md` exists.

use std::collections::BTreeSet;
use std::fs;

use crate::assert_none;
use crate::tree::{self, sources};

/// The number of rules in `docs/acceptance.md`. A rule never gets another number.
const RULES: usize = 70;

/// Returns the rows of the page's table: the number of each rule, and the names of its tests.
fn rows(page: &str) -> Vec<(usize, Vec<&str>)> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split(" | ").collect();
        let [number, _, tests] = cells.as_slice() else { return None };
        let named = tests.split('`').skip(1).step_by(2).filter(|word| word.contains("::"));
        Some((number.trim().parse().ok()?, named.collect()))
    });
    rows.collect()
}

/// Returns all identifiers in the sources that contain `_`. They include the names of all test
/// functions, and of the cases that a macro turns into tests.
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
