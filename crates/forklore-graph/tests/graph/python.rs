//! Checks the graph with Python libraries: rdflib reads every format, and pyshacl validates the
//! graph against the shapes.

use std::env;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use forklore_graph::terms::Quad;
use forklore_graph::{Format, ONTOLOGY, SHAPES, Scope, write};
use serde_json::Value;

use crate::family::{grown, quads};

/// The environment variable that contains the path of a Python with rdflib and pyshacl. `cargo
/// xtask test` installs such a Python and sets the variable.
const VARIABLE: &str = "FORKLORE_RDF_PYTHON";

const PROGRAM: &str = include_str!("reads.py");

fn put(folder: &Path, name: &str, quads: &[Quad], format: Format) {
    let all = [Ok::<_, std::io::Error>(quads.to_vec())];
    write(all, format, File::create(folder.join(name)).unwrap()).unwrap();
}

/// Returns the report of rdflib and pyshacl on the files in a directory.
fn read(folder: &Path) -> Value {
    std::fs::write(folder.join("ontology.ttl"), ONTOLOGY).unwrap();
    std::fs::write(folder.join("shapes.ttl"), SHAPES).unwrap();
    let python = env::var_os(VARIABLE).unwrap_or_else(|| {
        panic!(
            "{VARIABLE} does not name a Python that has rdflib and pyshacl\n\
             hint: `cargo xtask test` installs them from PyPI and names it"
        )
    });
    let done = Command::new(&python).args(["-c", PROGRAM]).arg(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{VARIABLE}={python:?}: {error}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn rdflib_reads_the_same_in_every_form_and_pyshacl_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let all = quads(&grown(), &Scope::Everything);
    for word in Format::WORDS {
        put(folder.path(), &format!("graph.{word}"), &all, word.parse().unwrap());
    }
    let text = read(folder.path());
    for word in Format::WORDS {
        assert_eq!(text["triples"][word], all.len(), "{word}");
        assert_eq!(text["same"][word], true, "{word}");
    }
    assert_eq!(text["conforms"], true, "{}", text["report"]);
}

#[test]
fn pyshacl_names_circles_vanished_parents_and_turns_without_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = quads(&grown(), &Scope::Everything);
    // Breaks the graph: demo-a and demo-a-2 become each other's parents, demo-b is missing, and a
    // turn has no index.
    let iri = |id: &str| format!("<urn:forklore:session:{id}>");
    let parent = |quad: &Quad| quad.predicate.as_str().ends_with("#parentSession");
    let mut circle =
        all.iter().find(|quad| parent(quad) && quad.subject.to_string() == iri("demo-a-2"));
    let mut back = circle.take().cloned().unwrap();
    let from =
        all.iter().position(|quad| parent(quad) && quad.subject.to_string() == iri("demo-a"));
    let child = back.subject.clone();
    back.subject = all[from.unwrap()].subject.clone();
    back.object = child.into();
    all[from.unwrap()] = back;
    all.retain(|quad| quad.subject.to_string() != iri("demo-b"));
    let index = all.iter().position(|quad| quad.predicate.as_str().ends_with("#index"));
    all.remove(index.unwrap());
    for word in Format::WORDS {
        put(folder.path(), &format!("graph.{word}"), &all, word.parse().unwrap());
    }
    let text = read(folder.path());
    assert_eq!(text["conforms"], false);
    let report = text["report"].as_str().unwrap();
    for wrong in ["run in a circle", "The parent session is not in the graph.", "fl:index"] {
        assert!(report.contains(wrong), "{wrong}: {report}");
    }
}
