//! Tests that the crate registers the readers for agents that store their sessions in a database.

use std::path::Path;

use forklore::import::ImportOptions;
use forklore::prelude::*;
use futures_lite::future::block_on;

#[test]
fn the_sessions_of_a_database_are_imported_each_by_itself() {
    block_on(async {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/opencode/genuine");
        let store = forklore::open("memory:").await.unwrap();
        let options = ImportOptions::in_workspace(Workspace::new("/here"));
        let database = folder.join("opencode.db");
        let report = store.import([database.clone()], options, |_| {}).await.unwrap();
        assert_eq!((report.files, report.skipped, report.problems), (3, 0, Vec::new()));
        let paths: Vec<_> = report.sources.iter().map(|file| file.path.clone()).collect();
        let id = "ses_e0010d072ffeuJO2vjlBCXJv4W";
        let expected = format!("{}#{id}", database.canonicalize().unwrap().display());
        assert_eq!(paths.first(), Some(&expected));
    });
}
