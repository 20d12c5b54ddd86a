//! Sessions as RDF, and questions about them.
#![cfg(feature = "graph")]

use crate::place::{Place, snapshot};

fn family() -> Place {
    let place = Place::with_a_plan();
    place.ok(&["fork", "plan-1", "--at", "turn:1", "--id", "plan-b", "--label", "plan-b"]);
    place.append("plan-b", "{\"data\":{\"content\":\"No, plan A.\\u0007\"}}\n");
    place
}

const FORKS: &str = "SELECT ?branch ?index ?child {
  ?child prov:wasDerivedFrom ?parent ; fl:branch ?branch ; fl:forkedAtIndex ?index }";

#[test]
fn answers_are_tables_and_the_forms_of_the_w3c() {
    let place = family();
    let said = "SELECT ?text { ?turn fl:session ?s ; fl:text ?text }";
    let shown = [
        place.ok(&["sparql", FORKS]),
        place.ok(&["sparql", said, "--param", "s=session:@plan-b"]),
        place.ok(&["sparql", FORKS, "plan-1", "--format", "csv"]),
        place.ok(&["sparql", FORKS, "--format", "xml"]),
        place.ok(&["sparql", "ASK { ?turn fl:role ?role }", "--param", "role=user"]),
        place.ok(&["sparql", "CONSTRUCT WHERE { ?a prov:wasDerivedFrom ?b }"]),
        format!("{:#}\n", place.json(&["sparql", FORKS, "--limit", "0"])),
    ];
    snapshot!(shown.join("\n"));
}

#[test]
fn refusals_name_their_place_and_kind() {
    let place = family();
    let (exit, error) = place.error(&["sparql", "SELECT ?a\nWHERE { ?a fl:role }"]);
    assert_eq!((exit, &error["kind"]), (2, &"invalid_args".into()));
    assert_eq!(error["details"], serde_json::json!({"line": 2, "column": 20}));
    let (exit, _) = place.error(&["sparql", "DELETE WHERE { ?a ?b ?c }"]);
    assert_eq!(exit, 3);
    let (exit, _) = place.error(&["sparql", "ASK { SERVICE <http://a.example/> {} }"]);
    assert_eq!(exit, 3);
    let (exit, _) = place.error(&["sparql", "ASK {}", "--param", "x"]);
    assert_eq!(exit, 2);
}

#[test]
fn a_graph_goes_out_or_into_a_new_file() {
    let place = family();
    let turtle = place.ok(&["graph", "plan-b"]);
    assert!(turtle.contains("<urn:forklore:session:plan-b> a fl:Session"), "{turtle}");
    let path = place.path().join("plan.nq");
    let path = path.to_str().unwrap();
    let wrote = place.json(&["graph", "--format", "nquads", "-o", path]);
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(wrote["triples"], written.lines().count());
    assert_eq!(place.error(&["graph", "-o", path]).1["kind"], "already_exists");
    assert!(place.ok(&["graph", "--ontology"]).contains("fl:forkedAtIndex a owl:DatatypeProperty"));
    assert!(place.ok(&["graph", "--shapes"]).contains("fl:SessionShape a sh:NodeShape"));
}

#[test]
fn a_graph_store_keeps_the_rules_of_trails() {
    let place = Place::new();
    let url = format!("graph:{}?profile=trails", place.path().join("trails").display());
    let words = |words: &[&str]| {
        let all = [&["--store", url.as_str()], words].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |verb: &[&str]| {
        let all = words(verb);
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        place.run(&all)
    };
    let made = ["new", "--id", "plan-1", "--principal", "did:web:ann.example"];
    assert_eq!(run(&made).code, 0);
    assert_eq!(run(&["new", "--id", "plan-2", "--principal", "ann"]).code, 2);
    assert_eq!(run(&["append", "plan-1", "--text", "plan A or plan B?"]).code, 0);
    assert_eq!(run(&["fork", "plan-1", "--id", "plan-b"]).code, 0);
    assert_eq!(run(&["delete", "plan-1", "--detach-children"]).code, 4);
    let asked = run(&["sparql", "SELECT ?who { ?s fl:principal ?who }", "--format", "csv"]);
    assert_eq!(asked.out, "who\r\ndid:web:ann.example\r\ndid:web:ann.example\r\n");
}
