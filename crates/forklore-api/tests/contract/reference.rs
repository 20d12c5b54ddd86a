//! Tests that the pages in `docs/reference` match the types.

use std::fs;
use std::path::Path;

use forklore_api::reference::{page, schema};

fn is_current(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("FORKLORE_WRITE_REFERENCE").is_some() {
        fs::write(&path, made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "{name} is not what the types say; \
         FORKLORE_WRITE_REFERENCE=1 cargo test -p forklore-api --features schema writes it"
    );
}

#[test]
fn the_schema_is_what_the_types_say() {
    is_current("forklore.schema.json", &format!("{:#}\n", schema()));
}

#[test]
fn the_page_is_what_the_types_say() {
    is_current("json.md", &page());
}

#[test]
fn every_type_and_every_field_says_what_it_is() {
    let schema = schema();
    let mut silent = Vec::new();
    let definitions = schema["$defs"].as_object().unwrap().iter();
    // Type names from the standard library have no description of ours.
    for (name, definition) in definitions.filter(|(name, _)| !name.starts_with("Range_of")) {
        if !definition["description"].is_string() {
            silent.push(name.clone());
        }
        for (field, value) in definition["properties"].as_object().into_iter().flatten() {
            if !value["description"].is_string() && !value["$ref"].is_string() {
                silent.push(format!("{name}.{field}"));
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}
