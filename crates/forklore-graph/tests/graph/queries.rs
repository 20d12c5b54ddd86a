//! Runs the queries in `docs/graph.md` on the family.

use std::fmt::Write;
use std::time::Duration;

use forklore_graph::terms::{Term, Variable};
use forklore_graph::{Answer, Query, session_iri};

use crate::family::{graph, grown, id};

const DOCS: &str = include_str!("../../../../docs/graph.md");

/// Returns the queries in `docs/graph.md`, each with its heading.
fn queries() -> Vec<(&'static str, &'static str)> {
    let sections = DOCS.split("\n### ").skip(1);
    let queries = sections.filter_map(|section| {
        let heading = section.lines().next().unwrap();
        let (_, query) = section.split_once("```sparql\n")?;
        Some((heading, query.split("```").next().unwrap()))
    });
    queries.collect()
}

fn cell(term: Option<&Term>) -> String {
    match term {
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(term) => term.to_string(),
        None => String::new(),
    }
}

#[test]
fn the_queries_of_the_docs_answer_what_they_say() {
    let graph = graph(&grown());
    let session = |name: &str, of: &str| (name.to_owned(), session_iri(&id(of)).into());
    let mut seen = String::new();
    for (heading, text) in queries() {
        let parameters = match heading.split(' ').next().unwrap() {
            "4" => vec![session("a", "demo-a-2"), session("b", "demo-b")],
            "9" => vec![("word".to_owned(), forklore_graph::term("winnow").unwrap())],
            "10" => vec![session("session", "demo-a-2")],
            _ => Vec::new(),
        };
        let timeout = Duration::from_secs(3_600);
        let answer = graph.answer(&Query { text, parameters, limit: 100, timeout });
        let Answer::Rows { variables, rows, more } = answer.expect(heading) else {
            panic!("{heading} selects")
        };
        assert!(!more);
        writeln!(seen, "## {heading}").unwrap();
        let names: Vec<_> = variables.iter().map(Variable::as_str).collect();
        writeln!(seen, "{}", names.join(" | ")).unwrap();
        for row in rows {
            let cells: Vec<_> = row.iter().map(|term| cell(term.as_ref())).collect();
            writeln!(seen, "{}", cells.join(" | ")).unwrap();
        }
    }
    assert_eq!(queries().len(), 10);
    insta::assert_snapshot!(seen);
}
