//! Two imports of one file at once store the file once.

use std::sync::Barrier;

use forklore_import::ImportReport;

use crate::files::testdata;
use crate::scene::Scene;

/// Returns the number of events that an import added to sessions.
fn appended(report: &ImportReport) -> u64 {
    report.sessions.iter().map(|session| session.appended).sum()
}

/// How often two imports race for a new file in each store.
const ROUNDS: usize = 10;

#[test]
fn two_imports_of_one_file_have_one_outcome() {
    let bytes = std::fs::read(testdata().join("pi/demo.jsonl")).unwrap();
    let whole = Scene::new();
    let all = appended(&whole.import_as(&whole.file("pi.jsonl", &bytes), "pi"));
    for make in [Scene::new, Scene::sqlite, Scene::files] {
        for _ in 0..ROUNDS {
            let scene = make();
            let mut counted = 0;
            // The second half of the file makes both imports continue a known file too.
            for end in [bytes.len() / 2, bytes.len()] {
                let path = scene.file("pi.jsonl", &bytes[..end]);
                let ready = Barrier::new(2);
                let import = || {
                    ready.wait();
                    scene.import_as(&path, "pi")
                };
                let reports = std::thread::scope(|scope| {
                    let imports = [scope.spawn(import), scope.spawn(import)];
                    imports.map(|import| import.join().unwrap())
                });
                for report in reports {
                    assert_eq!((report.files, report.skipped), (1, 0));
                    counted += appended(&report);
                }
            }
            assert_eq!(counted, all, "each event is in one report");
            assert_eq!(scene.everything(), whole.everything());
            let first = &scene.sessions()[0].id;
            assert_eq!(scene.restore(first), bytes);
            assert_eq!(scene.engine.verify(None).unwrap().problems, []);
        }
    }
}
