//! The graph is serialized in five formats, also with hostile strings, and read back.

use std::collections::BTreeSet;

use forklore_core::EventType;
use forklore_core::workspace::Workspace;
use forklore_engine::Create;
use forklore_graph::terms::{GraphName, Quad};
use forklore_graph::{Format, Scope, rdf_format, write};
use forklore_store::memory::MemoryStore;
use oxigraph::io::RdfParser;
use serde_json::json;

use crate::family::{grown, id, over, quads, say};

fn written(quads: &[Quad], format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    let all = [Ok::<_, std::io::Error>(quads.to_vec())];
    assert_eq!(write(all, format, &mut out).unwrap(), quads.len() as u64);
    out
}

/// Checks for every format that the quads are equal after a round trip. For a format without named
/// graphs, compares only the triples.
fn assert_every_form_says(quads: &[Quad]) {
    for word in Format::WORDS {
        let format: Format = word.parse().unwrap();
        let out = written(quads, format);
        let read = RdfParser::from_format(rdf_format(format)).for_slice(&out);
        let read: BTreeSet<String> = read.map(|quad| quad.unwrap().to_string()).collect();
        let text = quads.iter().cloned().map(|mut quad| {
            if !rdf_format(format).supports_datasets() {
                quad.graph_name = GraphName::DefaultGraph;
            }
            quad.to_string()
        });
        assert_eq!(read, text.collect(), "{word}");
    }
}

#[test]
fn every_form_says_the_same() {
    assert_every_form_says(&quads(&grown(), &Scope::Everything));
}

#[test]
fn a_session_as_turtle() {
    let scope = Scope::Family(id("other"));
    let turtle = written(&quads(&grown(), &scope), Format::Turtle);
    insta::assert_snapshot!(String::from_utf8(turtle).unwrap());
}

#[test]
fn hostile_texts_stay_texts_in_every_form() {
    let engine = over(MemoryStore::default());
    let mut create = Create::in_workspace(Workspace::new("/home/\"> <a> <b> .\n"));
    create.id = Some(id("Ärger-会話"));
    create.title = Some("</rdf:RDF> \u{202e} ]]> \" \\ \n @prefix x: <y> .".into());
    create.principal = Some("a> . <b> <c> \"d\u{1}".into());
    engine.create(&create).unwrap();
    let texts = ["\u{0}", "\u{fffe}", "a\rb\r\nc", "\u{7f}\u{85}", "}}} \"\"\" '''", "😀", "\u{b}"];
    for text in texts {
        say(&engine, "Ärger-会話", EventType::USER_MESSAGE, &json!({"content": text}));
    }
    let raw = r#"{"content":"half \ud83d of a pair"}"#;
    let mut event = forklore_engine::NewEvent::new(
        EventType::USER_MESSAGE,
        forklore_core::Data::parse(raw).unwrap(),
    );
    event.id = Some("half".parse().unwrap());
    engine.append(&id("Ärger-会話"), &event.into()).unwrap();
    let all = quads(&engine, &Scope::Everything);
    assert_every_form_says(&all);
    let data = all.iter().filter(|quad| quad.predicate.as_str().ends_with("#data"));
    let bytes = data.filter(|quad| quad.object.to_string().contains("base64Binary")).count();
    assert_eq!(bytes, 4, "NUL, a character XML forbids, a control, half of a pair");
}
