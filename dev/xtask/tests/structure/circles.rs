//! Tests that import cycles between the files of a crate are small. Files in a cycle can only be
//! understood together, so a cycle may have at most three.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::imports::{Module, modules};
use crate::tree::sources;

/// The maximum number of files in a cycle.
const MOST: usize = 3;

type Graph = BTreeMap<Module, BTreeSet<Module>>;

/// Returns every module that `from` imports, directly or through other modules.
fn reachable<'a>(graph: &'a Graph, from: &Module) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<_> = graph.get(from).into_iter().flatten().collect();
    while let Some(module) = open.pop() {
        if seen.insert(module) {
            open.extend(graph.get(module).into_iter().flatten());
        }
    }
    seen
}

/// Returns the cycles: each is a set of modules that import one another, directly or through
/// others.
fn circles(graph: &Graph) -> BTreeSet<BTreeSet<&Module>> {
    let reach: BTreeMap<_, _> =
        graph.keys().map(|module| (module, reachable(graph, module))).collect();
    let circle = |module: &Module| {
        let others = reach[module].iter().filter(|other| reach[**other].contains(module));
        others.copied().collect::<BTreeSet<_>>()
    };
    graph.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn no_import_circle_has_more_than_three_files() {
    let mut wrong = Vec::new();
    for (name, graph) in modules(&sources()) {
        let all = circles(&graph);
        for circle in all.iter().filter(|circle| circle.len() > MOST) {
            let files: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
            wrong.push(format!(
                "{name}: {} files import each other: {}",
                files.len(),
                files.join(", ")
            ));
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let edge = |from: &str, to: &[&str]| (module(from), to.iter().copied().map(module).collect());
    let graph =
        [edge("a", &["b"]), edge("b", &["c"]), edge("c", &["a", "d"]), edge("d", &[])].into();
    let (a, b, c) = (module("a"), module("b"), module("c"));
    assert_eq!(circles(&graph), [[&a, &b, &c].into()].into());
}
