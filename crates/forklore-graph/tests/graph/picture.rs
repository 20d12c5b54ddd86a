//! Checks the picture in the documentation. It shows a family, and is drawn from the results of
//! queries on the family's graph.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use forklore_graph::terms::Term;
use forklore_graph::{Answer, Graph, Query};

use crate::family::{graph, grown};

const PICTURE: &str = include_str!("../../../../docs/graph/family.svg");

const LEFT: usize = 130;
const STEP: usize = 56;
const LANE: usize = 52;

fn rows(graph: &Graph, text: &str) -> Vec<Vec<String>> {
    let timeout = Duration::from_secs(3_600);
    let query = Query { text, parameters: Vec::new(), limit: 1_000, timeout };
    let Answer::Rows { rows, .. } = graph.answer(&query).unwrap() else { panic!("it selects") };
    let cell = |cell: &Option<Term>| match cell {
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

fn x(index: &str) -> usize {
    LEFT + STEP * index.parse::<usize>().unwrap()
}

fn text(out: &mut String, x: usize, y: usize, class: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    writeln!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>").unwrap();
}

/// Draws the picture as SVG: each session as a lane, and each message as a dot at its index.
fn draw(graph: &Graph) -> String {
    let sessions = rows(
        graph,
        "SELECT ?session ?branch ?kind ?parent ?at ?gone ?principal {
           ?session fl:family/fl:sessionId \"demo\" ; fl:branch ?branch ; fl:kind ?kind ;
             prov:generatedAtTime ?made .
           OPTIONAL { ?session fl:parentSession ?parent ; fl:forkedAtIndex ?at }
           OPTIONAL { ?session prov:invalidatedAtTime ?gone }
           OPTIONAL { ?session fl:principal/fl:name ?principal }
         } ORDER BY ?made",
    );
    let lanes: BTreeMap<_, _> =
        sessions.iter().zip(1..).map(|(row, lane)| (row[0].clone(), LANE * lane)).collect();
    let mut out = String::new();
    for row in &sessions {
        let [session, branch, kind, parent, at, gone, principal] = row.as_slice() else {
            panic!("seven columns")
        };
        let y = lanes[session];
        text(&mut out, 10, y + 4, if gone.is_empty() { "label" } else { "gone" }, branch);
        let who = if gone.is_empty() { principal.clone() } else { "deleted".into() };
        text(&mut out, 10, y + 18, "who", &who);
        if !parent.is_empty() {
            let (from, x) = (lanes[parent], x(at).saturating_sub(STEP / 2));
            let class = if kind == "delegate" { "delegate" } else { "fork" };
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{x} {from} C{x} {y} {x} {y} {} {y}\"/>",
                x + STEP / 2 - 9
            )
            .unwrap();
        }
    }
    let turns = rows(
        graph,
        "SELECT ?session ?index ?role ?failed ?tool {
           ?turn a fl:Message ; fl:session ?session ; fl:index ?index ; fl:role ?role .
           ?session fl:family/fl:sessionId \"demo\" .
           OPTIONAL { ?turn fl:isError ?failed }
           OPTIONAL { ?turn fl:asks/fl:tool ?tool }
         } ORDER BY ?session ?index",
    );
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for row in &turns {
        let (y, x) = (lanes[&row[0]], x(&row[1]));
        if let Some(before) = last.insert(row[0].clone(), x) {
            writeln!(out, "<path class=\"log\" d=\"M{} {y} H{}\"/>", before + 9, x - 9).unwrap();
        }
        let class = if row[3] == "true" { "failed" } else { row[2].as_str() };
        writeln!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"9\"/>").unwrap();
        text(&mut out, x - 3, y + 4, "index", &row[1]);
        text(&mut out, x - 18, y + 22, "who", &row[4]);
    }
    let (width, height) = (LEFT + STEP * 10, LANE * (sessions.len() + 1));
    let legend =
        [("user", "user"), ("assistant", "assistant"), ("tool", "result"), ("failed", "failed")];
    for (at, (class, message)) in legend.into_iter().enumerate() {
        let (x, y) = (LEFT + 100 * at, height - 14);
        writeln!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"6\"/>").unwrap();
        text(&mut out, x + 12, y + 4, "who", message);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n{STYLE}\n{out}</svg>\n"
    )
}

const STYLE: &str = "<style>\n\
    svg{background:#fff}text{font:13px sans-serif;fill:#222}.who{font-size:10px;fill:#777}\n\
    .gone{fill:#aaa;text-decoration:line-through}.index{font-size:10px;fill:#fff}\n\
    path{fill:none;stroke:#8a8a8a;stroke-width:1.5}.delegate{stroke-dasharray:4 3}\n\
    .user{fill:#2f6fb5}.assistant{fill:#3c8a5b}.tool{fill:#8a6bb0}.failed{fill:#c0392b}\n\
    .system{fill:#777}\n</style>";

/// With `FORKLORE_DRAW=1`, the test replaces the picture instead of comparing it.
#[test]
fn the_picture_in_the_docs_is_of_the_graph() {
    let drawn = draw(&graph(&grown()));
    if std::env::var_os("FORKLORE_DRAW").is_some() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/graph/family.svg");
        std::fs::write(root, &drawn).unwrap();
        return;
    }
    assert_eq!(drawn, PICTURE, "to draw it anew: FORKLORE_DRAW=1");
}
