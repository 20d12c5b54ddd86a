//! Queries that are refused, and parameters with hostile values.

use std::time::Duration;

use forklore_api::{QueryParameter, Sparql};
use forklore_core::ErrorKind;
use forklore_graph::terms::Term;
use forklore_graph::{Answer, Query, QueryError, Scope, session_iri, term};

use crate::family::{graph, grown, id};

fn ask(text: &str, parameters: &[(&str, &str)]) -> Result<Answer, QueryError> {
    let parameters =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), term(value).unwrap())).collect();
    let timeout = Duration::from_secs(3_600);
    graph(&grown()).answer(&Query { text, parameters, limit: 3, timeout })
}

fn literal(text: &str) -> Term {
    term(text).unwrap()
}

fn refusal(text: &str) -> (ErrorKind, String) {
    let error = ask(text, &[]).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn invalid_sparql_is_reported_with_its_position() {
    let Err(QueryError::Syntax { line, column, .. }) = ask("SELECT ?a\nWHERE { ?a fl:x }", &[])
    else {
        panic!("it is no SPARQL")
    };
    assert_eq!((line, column), (2, 17));
    assert_eq!(refusal("").0, ErrorKind::InvalidArgs);
    let text = "the query is not SPARQL at line 1, column 34: the prefix is not declared";
    assert_eq!(refusal("SELECT ?a WHERE { ?a nobody:knows ?b }").1, text);
}

#[test]
fn updates_and_other_servers_are_refused() {
    for update in ["DELETE WHERE { ?s ?p ?o }", "LOAD <http://a.example/>", "CLEAR ALL"] {
        assert_eq!(refusal(update).0, ErrorKind::PermissionDenied, "{update}");
    }
    for service in [
        "SELECT * { SERVICE <http://a.example/> { ?s ?p ?o } }",
        "SELECT * { SERVICE SILENT <http://a.example/> { ?s ?p ?o } }",
        "ASK { FILTER(EXISTS { { SERVICE ?s { ?s ?p ?o } } UNION {} }) }",
        "SELECT (COUNT(IF(EXISTS { SERVICE ?s {} }, 1, 2)) AS ?n) { OPTIONAL { ?s ?p ?o } }",
        "CONSTRUCT { ?s ?p ?o } { { SELECT * { MINUS { SERVICE ?s { ?s ?p ?o } } } LIMIT 1 } }",
    ] {
        let (kind, text) = refusal(service);
        assert_eq!((kind, text.contains("SERVICE")), (ErrorKind::PermissionDenied, true), "{text}");
    }
}

#[test]
fn a_parameter_is_a_value_and_no_text() {
    let text = "SELECT ?said { ?turn fl:text ?said FILTER(?said = ?word) }";
    for hostile in ["x\") } #", "x' UNION { ?a ?b ?c }", "\u{0}", "?said", "winnow\" || true"] {
        let answer = ask(text, &[("word", hostile)]).unwrap();
        let Answer::Rows { rows, .. } = answer else { panic!("it selects") };
        assert_eq!(rows, Vec::<Vec<_>>::new(), "{hostile}");
    }
    let Answer::Rows { variables, rows, .. } = ask(text, &[("word", "winnow")]).unwrap() else {
        panic!("it selects")
    };
    assert_eq!(variables.len(), 1);
    assert_eq!(rows, [[Some(literal("winnow"))]]);
}

#[test]
fn a_request_is_a_query_with_its_values() {
    let parameters = |given: &[(&str, &str)]| -> Vec<QueryParameter> {
        let parameter = |(name, value): &(&str, &str)| QueryParameter {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        given.iter().map(parameter).collect()
    };
    let request = Sparql {
        parameters: parameters(&[("a", "7"), ("s", "session:main")]),
        ..Sparql::of("ASK { ?a ?b ?s }", Scope::Everything)
    };
    let expected = Query {
        text: "ASK { ?a ?b ?s }",
        parameters: vec![
            ("a".to_owned(), literal("7")),
            ("s".to_owned(), session_iri(&id("main")).into()),
        ],
        limit: 10_000,
        timeout: Duration::from_secs(30),
    };
    assert_eq!(Query::of(&request).unwrap(), expected);
    let limits = |limit, timeout_seconds| {
        let request = Sparql { limit, timeout_seconds, ..request.clone() };
        let query = Query::of(&request).unwrap();
        (query.limit, query.timeout)
    };
    assert_eq!(limits(0, 0.5), (usize::MAX, Duration::from_millis(500)));
    assert_eq!(limits(1, -0.0), (1, Duration::ZERO));
    assert_eq!(limits(1, 1e300), (1, Duration::MAX));
    for (timeout_seconds, shown) in [(-1.0, "-1"), (f64::NEG_INFINITY, "-inf"), (f64::NAN, "NaN")] {
        let wrong = Sparql { timeout_seconds, ..request.clone() };
        let error = Query::of(&wrong).unwrap_err();
        let message = format!("the time limit is {shown} s; 0 or more is allowed");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidArgs, message));
    }
    let wrong = Sparql { parameters: parameters(&[("s", "<no iri")]), ..request };
    let error = Query::of(&wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgs);
    assert!(error.to_string().starts_with("the value of the parameter s: "), "{error}");
}

#[test]
fn parameters_reach_into_every_part_of_a_query() {
    let rows = |text: &str, value: &str| match ask(text, &[("x", value)]).unwrap() {
        Answer::Rows { rows, .. } => rows,
        _ => panic!("it selects"),
    };
    let counted = "SELECT (COUNT(*) AS ?n) { ?turn fl:branch ?x }";
    assert_eq!(rows(counted, "plan-a-2"), [[Some(literal("3"))]]);
    let grouped =
        "SELECT ?role (COUNT(*) AS ?n) { ?t fl:branch ?x ; fl:role ?role } GROUP BY ?role";
    assert_eq!(rows(grouped, "helper"), [[Some(literal("user")), Some(literal("1"))]]);
    let filtered = "SELECT ?n { ?t fl:index ?n ; fl:branch \"main\" FILTER(?n < ?x) } ORDER BY ?n";
    assert_eq!(rows(filtered, "2"), [[Some(literal("0"))], [Some(literal("1"))]]);
    let optional =
        "SELECT ?b { ?s fl:kind \"root\" OPTIONAL { ?s fl:title ?x ; fl:branch ?b } } ORDER BY ?b";
    assert_eq!(rows(optional, "which parser?"), [[None], [Some(literal("main"))]]);
    let requested = ask("ASK { ?s fl:branch ?x }", &[("x", "plan-b")]).unwrap();
    assert_eq!(requested, Answer::Truth(true));
}

#[test]
fn a_parameter_that_cannot_be_bound_is_named() {
    let text = "SELECT ?a { ?a a fl:Message }";
    let text = |parameters: &[(&str, &str)]| {
        let error = ask(text, parameters).unwrap_err();
        (error.kind(), error.to_string())
    };
    let no_such = "the parameter word cannot be bound: the query has no such variable";
    assert_eq!(text(&[("word", "x")]), (ErrorKind::InvalidArgs, no_such.into()));
    let twice = "the parameter a cannot be bound: it is given twice";
    assert_eq!(text(&[("a", "x"), ("a", "y")]), (ErrorKind::InvalidArgs, twice.into()));
    assert_eq!(text(&[("a b", "x")]).0, ErrorKind::InvalidArgs);
}

#[test]
fn rows_and_time_are_bounded() {
    let Answer::Rows { rows, more, .. } = ask("SELECT * { ?s ?p ?o }", &[]).unwrap() else {
        panic!("it selects")
    };
    assert_eq!((rows.len(), more), (3, true));
    let Answer::Triples { triples, more } = ask("CONSTRUCT WHERE { ?s ?p ?o }", &[]).unwrap()
    else {
        panic!("it constructs")
    };
    assert_eq!((triples.len(), more), (3, true));
    let endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
    let timeout = Duration::from_millis(50);
    let query = Query { text: endless, parameters: Vec::new(), limit: 3, timeout };
    let error = graph(&grown()).answer(&query).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Busy, "the query was stopped after 0.05 s")
    );
}

#[test]
fn the_deepest_query_has_an_answer_or_an_error() {
    let most = 16 << 10;
    let deep = |before: &str, open: &str, middle: &str, close: &str, after: &str| {
        let times = (most - before.len() - middle.len() - after.len()) / (open.len() + close.len());
        [before, &open.repeat(times), middle, &close.repeat(times), after].concat()
    };
    for text in [
        deep("SELECT (", "1+", "1", "", " AS ?x) {}"),
        deep("SELECT * ", "{", "", "}", ""),
        deep("SELECT (", "(", "1", ")", " AS ?x) {}"),
        deep("ASK {?a ", "(", "fl:text", ")", " ?b}"),
        deep("SELECT * {FILTER(", "!", "true", "", ")}"),
    ] {
        assert!(text.len() <= most);
        match ask(&text, &[]) {
            Ok(_)
            | Err(QueryError::Syntax { .. } | QueryError::Rule(_) | QueryError::TooDeep(_)) => {}
            Err(error) => panic!("{error}: {text:.40}"),
        }
    }
    assert_eq!(refusal(&" ".repeat(most + 1)).0, ErrorKind::InvalidArgs);
}

#[test]
fn a_sum_of_too_many_terms_is_refused_before_the_library_optimizes_it() {
    let sum = |terms: usize| format!("SELECT (1{} AS ?x) {{}}", "+1".repeat(terms - 1));
    assert!(ask(&sum(1_000), &[]).is_ok());
    let message = "the query nests expressions 1001 deep, and 1000 is allowed; compare with a list \
                   of values by IN";
    assert_eq!(refusal(&sum(1_001)), (ErrorKind::InvalidArgs, message.to_owned()));
}
