//! Imports every sample file twice. Every file is restored byte for byte, and the second import
//! changes nothing.

use crate::files;
use crate::scene::Scene;

#[test]
fn every_file_is_restored_and_imported_once_only() {
    let mut restored = 0;
    for (path, dialect) in files::all() {
        let bytes = files::content(&path);
        let scene = Scene::new();
        let report = scene.import_as(&path, dialect);
        let first = scene.everything();
        // If the file continues another file, the import includes that file too. It is tested
        // separately.
        for session in report.first_named().into_iter().flat_map(|file| &file.sessions) {
            // An incomplete last line, which is not imported yet, is restored too.
            assert!(scene.restore(session) == bytes, "{}", path.display());
            restored += 1;
        }

        let again = scene.import_as(&path, dialect);
        assert_eq!(scene.everything(), first, "{}", path.display());
        assert!(again.sessions.iter().all(|session| session.appended == 0));
        let ids = |report: &forklore_import::ImportReport| {
            report.first_named().map(|file| file.sessions.clone()).unwrap_or_default()
        };
        assert_eq!(ids(&again), ids(&report));
    }
    assert!(restored > 80, "{restored}");
}

#[test]
fn whole_folders_are_imported_together_and_every_file_comes_back() {
    let scene = Scene::sqlite();
    let report = scene.import(&files::testdata());
    assert!(report.files > 30, "{report:?}");
    for file in &report.sources {
        let bytes = files::content(file.path.as_ref());
        for session in &file.sessions {
            let restored = scene.restore(session);
            assert!(restored == bytes, "{}", file.path);
        }
    }
    for other in [Scene::new(), Scene::sqlite(), Scene::files()] {
        other.import(&files::testdata());
        assert_eq!(scene.everything(), other.everything());
    }
}
