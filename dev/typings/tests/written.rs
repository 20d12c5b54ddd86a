//! The generated files in `bindings` are those that the contract's schema gives.

use std::path::{Path, PathBuf};
use std::{env, fs};

use forklore_typings::schema::{definitions, reachable};
use forklore_typings::verbs::{Verb, verbs};
use forklore_typings::{python, typescript};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what was generated, or replaces it.
fn compare(path: &str, generated: &str) {
    let file = root().join(path);
    if env::var_os("FORKLORE_WRITE_REFERENCE").is_some() {
        assert!(fs::write(&file, generated).is_ok(), "{path} cannot be written");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is not what the schema gives; \
         FORKLORE_WRITE_REFERENCE=1 cargo test -p forklore-typings replaces it"
    );
}

#[test]
fn the_generated_files_are_those_of_the_schema() {
    let schema = root().join("docs/reference/forklore.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let definitions = definitions(&schema);
    let verbs = verbs(&schema, &definitions);
    let used = reachable(&definitions, verbs.iter().flat_map(Verb::types));
    compare("bindings/python/forklore/types.py", &python::types(&used));
    compare("bindings/python/forklore/_verbs.py", &python::verbs(&verbs, &definitions));
    compare("bindings/typescript/lib/types.ts", &typescript::types(&used));
    compare("bindings/typescript/lib/verbs.ts", &typescript::verbs(&verbs));
}
