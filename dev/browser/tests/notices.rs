//! Tests that a test of a page fails when it should.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use forklore_browser::{Failed, passes};

const NOTHING: [(&str, &str); 0] = [];

#[test]
fn the_fixtures_notice_what_is_wrong_with_a_page() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notices.py");
    let printed = passes(tests.as_ref(), &NOTHING).unwrap_or_else(|failed| panic!("{failed}"));
    assert!(printed.contains("16 passed"), "{printed}");
}

#[test]
fn a_test_that_fails_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("fails.py");
    std::fs::write(&tests, "def test_sums():\n    assert 1 + 1 == 3\n").unwrap();
    let failed = passes(&tests, &NOTHING).unwrap_err();
    assert!(matches!(failed, Failed::Tests { .. }), "{failed}");
    assert!(failed.to_string().contains("assert 1 + 1 == 3"), "{failed}");
    let failed = passes(Path::new("gone.py"), &NOTHING).unwrap_err();
    assert!(failed.to_string().contains("not found: "), "{failed}");
}
