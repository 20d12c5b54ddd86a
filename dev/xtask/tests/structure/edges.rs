//! Tests the dependencies between crates: the table in ARCHITECTURE.md must agree with the
//! manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::manifests::{self, Manifest};
use crate::{assert_none, tree};

/// The workspace crates that each crate uses, with the name of the using crate as key.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Returns the parts of the cell that are in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Reads the table. The first column has the crate, the last column the crates that it may use.
fn table(architecture: &str, crates: &BTreeSet<&str>) -> Edges {
    let rows = architecture.lines().filter_map(|line| {
        let cells: Vec<_> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
        let [first, .., last] = cells.as_slice() else {
            return None;
        };
        let name = quoted(first).next().filter(|_| first.trim().starts_with('`'))?;
        let used = quoted(last).filter(|word| crates.contains(word)).map(str::to_owned).collect();
        crates.contains(name).then(|| (name.to_owned(), used))
    });
    rows.collect()
}

/// Returns one line for each difference between the table and the manifests.
fn differences(rule: &Edges, actual: &Edges) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, used) in actual {
        let Some(allowed) = rule.get(name) else {
            wrong.push(format!("{name}: no row in the table of ARCHITECTURE.md"));
            continue;
        };
        let new = used.difference(allowed);
        wrong.extend(new.map(|to| format!("{name} -> {to}: not allowed by ARCHITECTURE.md")));
        let gone = allowed.difference(used);
        wrong.extend(
            gone.map(|to| format!("{name} -> {to}: in ARCHITECTURE.md, not in Cargo.toml")),
        );
    }
    wrong
}

#[test]
fn crates_use_each_other_as_the_architecture_says() {
    let manifests = manifests::all();
    let crates: BTreeSet<_> = manifests.iter().map(Manifest::name).collect();
    let architecture = fs::read_to_string(tree::root().join("ARCHITECTURE.md")).unwrap();
    let actual = manifests.iter().map(|manifest| {
        let used = manifest.dependencies("dependencies").into_iter().map(|(name, _)| name);
        (manifest.name().to_owned(), used.filter(|name| crates.contains(&**name)).collect())
    });
    assert_none(&differences(&table(&architecture, &crates), &actual.collect()));
}

#[test]
fn a_wrong_edge_is_named() {
    let crates = ["model", "store", "engine", "new"].into();
    let text = "| crate | lives there | may use |\n|---|---|---|\n\
                | `model` | what `store` keeps | - |\n\
                | `store` | the port | `model`, `serde` |\n\
                | `engine` | verbs | `model`, `store` |\n";
    let edge = |from: &str, to: &[&str]| {
        (from.to_owned(), to.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>())
    };
    let rule = table(text, &crates);
    let expected =
        [edge("model", &[]), edge("store", &["model"]), edge("engine", &["model", "store"])];
    assert_eq!(rule, expected.into());
    let actual = [
        edge("model", &["store"]),
        edge("store", &["model"]),
        edge("engine", &["model"]),
        edge("new", &[]),
    ];
    let wrong = [
        "engine -> store: in ARCHITECTURE.md, not in Cargo.toml",
        "model -> store: not allowed by ARCHITECTURE.md",
        "new: no row in the table of ARCHITECTURE.md",
    ];
    assert_eq!(differences(&rule, &actual.into()), wrong);
}
