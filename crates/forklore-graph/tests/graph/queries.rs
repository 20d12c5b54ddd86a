//! Runs the queries in `docs/graph.md` on the family.

use std::fmt::Write;
use std::time::Duration;

use forklore_graph::terms::{Term, Variable};
use forklore_graph::{Answer, Query, QueryError, session_iri};

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

/// Returns the rows of a query on the family, each as one text.
fn answers(text: &str) -> Vec<String> {
    let timeout = Duration::from_secs(3_600);
    let query = Query { text, parameters: Vec::new(), limit: 100, timeout };
    let Answer::Rows { rows, .. } = graph(&grown()).answer(&query).unwrap() else {
        panic!("it selects")
    };
    let row = |row: &Vec<Option<Term>>| {
        let cells: Vec<_> = row.iter().map(|term| cell(term.as_ref())).collect();
        cells.join(" | ").replace("urn:forklore:", "")
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_fork_is_an_activity_that_used_the_parent() {
    let forks = answers(
        "SELECT ?fork ?parent ?child {
           ?fork a fl:Fork , prov:Activity ; prov:used ?parent ; prov:startedAtTime ?made ;
             prov:endedAtTime ?made .
           ?child prov:wasGeneratedBy ?fork ; prov:wasDerivedFrom ?parent ;
             prov:generatedAtTime ?made .
         } ORDER BY ?fork",
    );
    let expected = [("demo", "demo-a"), ("demo-a", "demo-a-2"), ("demo", "demo-b")];
    let expected = expected.into_iter().chain([("demo-b", "demo-c"), ("demo-c", "demo-d")]);
    let expected: Vec<_> = expected
        .map(|(parent, child)| format!("<fork:{child}> | <session:{parent}> | <session:{child}>"))
        .collect();
    assert_eq!(forks, expected);
}

#[test]
fn a_tool_call_used_the_event_that_asks_and_ends_with_its_result() {
    let calls = answers(
        "SELECT ?call ?event (BOUND(?ended) AS ?answered) {
           ?call a fl:ToolCall ; prov:used ?event ; prov:startedAtTime ?started .
           ?event fl:asks ?call .
           OPTIONAL { ?call prov:endedAtTime ?ended FILTER(?ended > ?started) }
         } ORDER BY ?call",
    );
    // A fork that inherits an open call does not end it: the call ends in the session that began
    // it.
    let expected = [
        "<tool-call:demo-a:6:0> | <event:demo-a:6> | true",
        "<tool-call:demo-a-2:8:0> | <event:demo-a-2:8> | false",
        "<tool-call:demo-b:6:0> | <event:demo-b:6> | true",
        "<tool-call:demo:1:0> | <event:demo:1> | true",
    ];
    let mut calls = calls;
    calls.sort_unstable();
    let mut expected = expected.map(str::to_owned);
    expected.sort_unstable();
    assert_eq!(calls, expected);
}

#[test]
fn a_model_call_used_the_last_message_before_it() {
    let calls = answers(
        "SELECT ?call ?message {
           ?call a fl:ModelCall ; prov:used ?message ; prov:startedAtTime ?started ;
             prov:endedAtTime ?ended .
           ?message prov:generatedAtTime ?started .
           FILTER(?started < ?ended)
         } ORDER BY ?call",
    );
    let mut calls = calls;
    calls.sort_unstable();
    let mut expected = [
        "<model-call:demo:3> | <event:demo:2>",
        "<model-call:demo:6> | <event:demo:5>",
        "<model-call:demo-d:9> | <event:demo-c:8>",
    ]
    .map(str::to_owned);
    expected.sort_unstable();
    assert_eq!(calls, expected);
}

#[test]
fn a_query_of_the_docs_without_its_parameter_is_refused_at_once() {
    let mut refused = Vec::new();
    for (heading, text) in queries() {
        let query = Query { text, parameters: Vec::new(), limit: 1, timeout: Duration::ZERO };
        match query.check() {
            Ok(()) => {}
            Err(QueryError::Parameter { name, .. }) => {
                refused.push(format!("{} {name}", heading.split(' ').next().unwrap()));
            }
            Err(other) => panic!("{heading}: {other}"),
        }
    }
    assert_eq!(refused, ["4 a", "9 word", "10 session"]);
}
