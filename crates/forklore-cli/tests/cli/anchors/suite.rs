//! A public suite that edits stores behind their backs: agent-memory-integrity, from PyPI. The
//! adapters are in `agmi`, and leave every checksum right.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// The environment variable that names a Python with the suite.
const VARIABLE: &str = "FORKLORE_AGMI_PYTHON";

/// Runs the suite against the adapter `module:class`, and returns its verdict on each edit.
fn verdicts(adapter: &str, url: &str) -> Vec<(String, String, String)> {
    let python = std::env::var(VARIABLE).unwrap_or_else(|_| {
        panic!("{VARIABLE} is not set\nhint: `cargo xtask test` installs the suite and sets it")
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("answer.json");
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/anchors/agmi");
    let output = Command::new(python)
        .args(["-m", "agmi.check", "--adapter", adapter, "--json"])
        .arg(&path)
        .env_clear()
        .env("PYTHONPATH", adapters)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("FORKLORE", env!("CARGO_BIN_EXE_forklore"))
        .env("FORKLORE_POSTGRES_URL", url)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{output:?}"));
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(output.status.code(), Some(0), "{answer:#}");
    let field = |edit: &Value, name: &str| edit[name].as_str().unwrap().to_owned();
    let edits = answer["edits"].as_array().unwrap().iter();
    edits
        .map(|edit| (field(edit, "attack"), field(edit, "verdict"), field(edit, "detail")))
        .collect()
}

fn is_reported(adapter: &str, url: &str, rolled_back: &str) {
    let expected = [
        ("tamper", "edited"),
        ("truncate", "truncated"),
        ("delete_middle", "truncated"),
        ("reorder", "edited"),
        ("forge", "grown"),
        ("cross_replay", "edited"),
        ("rollback_replay", "edited"),
        ("metadata_tamper", "edited"),
    ];
    let expected = expected.map(|(attack, state)| {
        let detail = format!("detected on reload (agmi {state})");
        (attack.to_owned(), "REPORTED".to_owned(), detail)
    });
    let noticed = "the store noticed it was older than its last committed state";
    let last = format!("{noticed} (agmi {rolled_back})");
    let last = ("snapshot_rollback".to_owned(), "REPORTED".to_owned(), last);
    let expected: Vec<_> = expected.into_iter().chain([last]).collect();
    assert_eq!(json!(verdicts(adapter, url)), json!(expected));
}

#[test]
fn reports_nine_of_nine_edits_of_sqlite() {
    is_reported("forklore_sqlite:ForkloreSqlite", "", "rolled_back");
}

#[test]
fn reports_nine_of_nine_edits_of_files() {
    is_reported("forklore_files:ForkloreFiles", "", "rolled_back");
}

#[cfg(feature = "postgres")]
#[test]
fn reports_nine_of_nine_edits_of_postgres() {
    // The numbers of the database's transactions do not go back with the rows.
    let tenant = forklore_pgserver::Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
    is_reported("forklore_postgres:ForklorePostgres", &tenant.url(), "truncated");
}
