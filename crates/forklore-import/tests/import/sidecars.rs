//! Imports sidecar files. They are stored byte for byte, listed with their session, and deleted
//! together with the session.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use forklore_core::{ErrorKind, SessionId};
use forklore_engine::{Delete, DeleteMode, Engine, Error, Fork, StoredFile};
use forklore_import::{ImportOptions, Importer, ProblemKind};
use forklore_store::Error as StoreError;
use forklore_store::port::Problem;

use crate::files::testdata;
use crate::scene::Scene;

const SESSION: &str = "5a1d0c2e-0000-4000-8000-000000000001";
const RECORD: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"hello"}}"#;

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Creates a project folder of Claude Code with one session. Returns the project folder and the
/// folder for the session's tool results.
fn claude(scene: &Scene) -> (PathBuf, PathBuf) {
    let folder = scene.folder.path().join("projects/-w");
    let results = folder.join(SESSION).join("tool-results");
    fs::create_dir_all(&results).unwrap();
    fs::write(folder.join(format!("{SESSION}.jsonl")), format!("{RECORD}\n")).unwrap();
    (folder, results)
}

fn restored(engine: &Engine, file: &StoredFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    let restored = engine.restore_file(file, &mut bytes).unwrap();
    assert_eq!((restored.bytes, restored.revision), (bytes.len() as u64, file.about.revision));
    bytes
}

/// Returns the sidecar files of a session: name, number of the revision, whether the revision is
/// the latest, and bytes.
fn stored(scene: &Scene, session: &str) -> Vec<(String, u64, bool, Vec<u8>)> {
    let files = scene.engine.files(&id(session)).unwrap();
    let sidecars = files.into_iter().filter(|file| !file.about.own);
    let bytes = |file: StoredFile| {
        let bytes = restored(&scene.engine, &file);
        (file.about.name, file.about.revision, file.about.latest, bytes)
    };
    sidecars.map(bytes).collect()
}

fn every_store() -> [Scene; 3] {
    [Scene::new(), Scene::sqlite(), Scene::files()]
}

#[test]
fn sidecar_files_come_back_byte_for_byte() {
    for scene in every_store() {
        let (folder, results) = claude(&scene);
        // The file is longer than 8 MiB, so it is written in several steps.
        let long: Vec<u8> = (0..9_u32 << 20).map(|n| (n % 251) as u8).collect();
        let packed = b"\x28\xb5\x2f\xfdno frame at all".to_vec();
        let name = |file: &str| format!("{SESSION}/tool-results/{file}");
        let expected: Vec<_> = [
            ("bytes.bin", b"\xff\0\r\n\xfe".to_vec()),
            ("empty.txt", Vec::new()),
            ("lines.jsonl", RECORD.as_bytes().to_vec()),
            ("long.txt", long),
            ("packed.zst", packed),
        ]
        .into_iter()
        .map(|(file, bytes)| {
            fs::write(results.join(file), &bytes).unwrap();
            (name(file), 0, true, bytes)
        })
        .collect();
        let report = scene.import(&folder);
        assert_eq!((report.problems.len(), report.skipped, report.files), (0, 0, 1));
        assert_eq!((report.sidecars.files, report.sidecars.unchanged), (5, 0));
        assert_eq!(stored(&scene, SESSION), expected);
        let again = scene.import(&folder);
        assert_eq!(
            (again.sidecars.files, again.sidecars.unchanged, again.sidecars.bytes),
            (5, 5, 0)
        );
        assert_eq!(stored(&scene, SESSION), expected);
        assert_eq!(scene.engine.verify(None).unwrap().problems, []);
        assert_eq!(scene.sessions().len(), 1, "they are nobody's sessions");
    }
}

#[test]
fn a_file_that_grows_is_one_and_one_that_changes_is_a_revision() {
    for scene in every_store() {
        let (folder, results) = claude(&scene);
        let path = results.join("a.txt");
        for text in ["", "one", "one two", "other"] {
            fs::write(&path, text).unwrap();
            scene.import(&folder);
        }
        let name = format!("{SESSION}/tool-results/a.txt");
        let expected =
            vec![(name.clone(), 1, true, b"other".to_vec()), (name, 0, false, b"one two".to_vec())];
        assert_eq!(stored(&scene, SESSION), expected);
        fs::remove_file(path).unwrap();
        scene.import(&folder);
        assert_eq!(stored(&scene, SESSION), expected, "what the agent deletes is kept");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_whole_in_the_end() {
    let scene = Scene::sqlite();
    let (folder, results) = claude(&scene);
    let path = results.join("a.txt");
    let mut file = fs::File::create(&path).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for n in 0..400_u32 {
                file.write_all(&vec![(n % 251) as u8; 20_011]).unwrap();
            }
        });
        while !writing.is_finished() {
            scene.import(&folder);
        }
    });
    scene.import(&folder);
    let name = format!("{SESSION}/tool-results/a.txt");
    assert_eq!(stored(&scene, SESSION), [(name, 0, true, fs::read(&path).unwrap())]);
}

#[test]
fn equal_files_of_two_sessions_are_each_their_own() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("p");
    for session in ["a", "b"] {
        let results = folder.join(session).join("tool-results");
        fs::create_dir_all(&results).unwrap();
        fs::write(folder.join(format!("{session}.jsonl")), RECORD.replace("u1", session)).unwrap();
        fs::write(results.join("x.txt"), "same").unwrap();
    }
    scene.import(&folder);
    fs::write(folder.join("a/tool-results/x.txt"), "same, and more").unwrap();
    scene.import(&folder);
    let one = |session: &str, text: &str| {
        vec![(format!("{session}/tool-results/x.txt"), 0, true, text.as_bytes().to_vec())]
    };
    assert_eq!(stored(&scene, "a"), one("a", "same, and more"));
    assert_eq!(stored(&scene, "b"), one("b", "same"));
}

#[test]
fn naming_a_session_file_imports_its_sidecars() {
    let scene = Scene::new();
    let (folder, results) = claude(&scene);
    fs::write(results.join("a.txt"), "out").unwrap();
    let other = results.join("b.txt");
    let report = scene.import(&folder.join(format!("{SESSION}.jsonl")));
    assert_eq!(report.sidecars.files, 1);
    fs::write(&other, "later").unwrap();
    let report = scene.import(&other);
    assert_eq!((report.files, report.sidecars.files, report.problems.len()), (0, 1, 0));
    assert_eq!(stored(&scene, SESSION).len(), 2);
}

#[test]
fn a_file_whose_session_is_not_there_is_passed_over() {
    let scene = Scene::new();
    let (folder, results) = claude(&scene);
    let path = results.join("a.txt");
    fs::write(&path, "out").unwrap();
    let report = scene.import(&path);
    let problems: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!((problems, report.skipped), (vec![ProblemKind::MissingBase], 1));
    fs::remove_file(folder.join(format!("{SESSION}.jsonl"))).unwrap();
    let report = scene.import(&folder);
    assert_eq!((report.sidecars.files, report.problems.len()), (0, 0));
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_and_pipes_are_not_stored() {
    let scene = Scene::new();
    let (folder, results) = claude(&scene);
    let secret = scene.file("secret.txt", b"secret");
    std::os::unix::fs::symlink(&secret, results.join("out.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", results.join("etc")).unwrap();
    std::os::unix::net::UnixListener::bind(results.join("socket")).unwrap();
    scene.import(&folder);
    assert_eq!(stored(&scene, SESSION), []);
}

#[test]
fn a_delete_takes_them_and_they_stay_away() {
    for scene in every_store() {
        let (folder, results) = claude(&scene);
        let path = results.join("a.txt");
        fs::write(&path, "the marker is SECRETWORD in it").unwrap();
        scene.import(&folder);
        assert!(!scene.on_disk() || scene.holds(b"SECRETWORD"));
        let delete =
            Delete { session: id(SESSION), mode: DeleteMode::Refuse, dry_run: false, erase: true };
        scene.engine.delete(&delete).unwrap();
        let files = scene.engine.files(&id(SESSION)).unwrap();
        assert!(files.len() == 2 && files.iter().all(|file| file.about.gone));
        for file in &files {
            let refused = scene.engine.restore_file(file, &mut Vec::new());
            assert!(matches!(refused, Err(Error::SourceGone { .. })), "{refused:?}");
        }
        scene.engine.gc().unwrap();
        assert!(!scene.holds(b"SECRETWORD"));
        // New bytes and new sidecar files belong to the deleted session too, so they are not
        // stored.
        fs::write(&path, "the marker is SECRETWORD in it, again").unwrap();
        fs::write(results.join("b.txt"), "SECRETWORD").unwrap();
        let report = scene.import(&folder);
        assert_eq!((report.sidecars.files, report.skipped), (0, 3));
        assert!(!scene.holds(b"SECRETWORD"));
        assert_eq!(scene.engine.verify(None).unwrap().problems, []);

        let report = scene.import_with(&folder, &ImportOptions { again: true, ..Scene::options() });
        let session = report.sessions[0].session_id.to_string();
        let result = |file: &str| format!("{SESSION}/tool-results/{file}");
        let bytes = |text: &str| text.as_bytes().to_vec();
        let latest: Vec<_> = scene.engine.files(&id(&session)).unwrap();
        let latest = latest.into_iter().filter(|file| file.about.latest && !file.about.own);
        let latest: Vec<_> =
            latest.map(|file| (file.about.name.clone(), restored(&scene.engine, &file))).collect();
        let expected = vec![
            (result("a.txt"), bytes("the marker is SECRETWORD in it, again")),
            (result("b.txt"), bytes("SECRETWORD")),
        ];
        assert_eq!(latest, expected);
    }
}

#[test]
fn forks_and_detached_sessions_have_none_of_their_own() {
    let scene = Scene::new();
    let (folder, results) = claude(&scene);
    fs::write(results.join("a.txt"), "out").unwrap();
    scene.import(&folder);
    let fork = scene.engine.fork(&Fork::of(id(SESSION))).unwrap().child_session_id;
    scene.engine.detach(&fork).unwrap();
    let refused = scene.engine.files(&fork);
    assert!(matches!(&refused, Err(Error::NoSource(session)) if *session == fork), "{refused:?}");
    let delete = Delete {
        session: id(SESSION),
        mode: DeleteMode::DetachChildren,
        dry_run: false,
        erase: true,
    };
    scene.engine.delete(&delete).unwrap();
    assert!(scene.engine.files(&id(SESSION)).unwrap().iter().all(|file| file.about.gone));
    assert!(matches!(scene.engine.show(&id(SESSION)), Err(Error::Store(StoreError::Deleted(_)))));
}

#[test]
fn a_damaged_one_is_named() {
    for scene in [Scene::sqlite(), Scene::files()] {
        let (folder, results) = claude(&scene);
        let marked = "kept as it is".repeat(10);
        fs::write(results.join("a.txt"), &marked).unwrap();
        scene.import(&folder);
        assert_eq!(scene.engine.verify(None).unwrap().problems, []);
        let (engine, _folder) = scene.damaged(marked.as_bytes(), &[b'x'; 130]);
        let problems = engine.verify(None).unwrap().problems;
        let named = |it: &&Problem| it.session_id == Some(id(SESSION));
        let named: Vec<_> = problems.iter().filter(named).collect();
        assert_eq!(named.len(), 1, "{problems:?}");
        assert_eq!(named[0].kind, ErrorKind::Corrupt);
        assert!(named[0].message.contains("file"), "{}", named[0].message);
    }
}

#[test]
fn a_saved_store_has_them_too() {
    for scene in every_store() {
        let (folder, results) = claude(&scene);
        for text in ["one", "two"] {
            fs::write(results.join("a.txt"), text).unwrap();
            scene.import(&folder);
        }
        let saved = Scene::sqlite();
        let report = scene.engine.recover(&saved.engine).unwrap();
        assert_eq!((report.lost.len(), report.sources), (0, 3));
        assert_eq!(stored(&saved, SESSION), stored(&scene, SESSION));
        assert_eq!(saved.import(&folder).sidecars.unchanged, 1);
    }
}

#[test]
fn a_folder_of_amplifier_and_resources_of_pixir_are_whole() {
    for scene in every_store() {
        for agent in ["amplifier/projects", "pixir/.pixir", "claude/projects"] {
            scene.import(&testdata().join(agent));
        }
        let names = |session: &str| {
            let files = scene.engine.files(&id(session)).unwrap();
            files.into_iter().map(|file| file.about.name).collect::<Vec<_>>()
        };
        let amplifier = ["transcript.jsonl", "events.jsonl", "metadata.json"];
        assert_eq!(names("1cb9e5f5-48b2-4dd6-9728-bcc3b0303f2b"), amplifier);
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        for session in ["20260302T090000-a1b2c3", "20260302T093000-d4e5f6"] {
            let resource = format!("{session}/resources/res_1/{hash}.png");
            assert_eq!(names(session), [format!("{session}.ndjson"), resource]);
        }
        let claude = "9cb2dfeb-c188-4250-bac1-2b1856ffaa9b";
        let result = format!("{claude}/tool-results/toolu_big.txt");
        assert_eq!(names(claude), [format!("{claude}.jsonl"), result]);
        assert_eq!(names("agent-af4ac804"), ["agent-af4ac804.jsonl", "agent-af4ac804.meta.json"]);
        for session in scene.sessions() {
            for file in scene.engine.files(&session.id).unwrap() {
                let whole = fs::read(Path::new(&file.about.path)).unwrap();
                assert_eq!(restored(&scene.engine, &file), whole, "{}", file.about.path);
            }
        }
    }
}

/// Returns a name that is not UTF-8.
fn bytes(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

#[test]
fn names_that_are_no_utf8_are_stored_byte_for_byte() {
    for scene in every_store() {
        let (folder, results) = claude(&scene);
        let names: [&[u8]; 4] =
            [b"a\xfe.txt", b"a\xff.txt", b"a%FF.txt", "a\u{fffd}.txt".as_bytes()];
        for name in names {
            fs::write(results.join(bytes(name)), name).unwrap();
        }
        let deep = results.join(bytes(b"deep\xe9"));
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("plain"), b"deep").unwrap();
        let first = scene.import(&folder);
        assert_eq!((first.sidecars.files, first.problems.len()), (5, 0));
        let again = scene.import(&folder);
        assert_eq!(
            (again.sidecars.files, again.sidecars.unchanged, again.sidecars.bytes),
            (5, 5, 0)
        );
        let files = scene.engine.files(&id(SESSION)).unwrap();
        let below = format!("{SESSION}/tool-results");
        let stored: Vec<_> = files[1..]
            .iter()
            .map(|file| {
                let path =
                    file.relative_path().strip_prefix(&below).unwrap().as_os_str().as_bytes();
                (
                    file.about.name.as_str(),
                    path.to_vec(),
                    file.about.revision,
                    restored(&scene.engine, file),
                )
            })
            .collect();
        let name = |start: &str, name: &str| format!("{start}{below}/{name}");
        let written = [
            name("", "a%FF.txt"),
            name("", "a\u{fffd}.txt"),
            name("bytes://", "a%FE.txt"),
            name("bytes://", "a%FF.txt"),
            name("bytes://", "deep%E9/plain"),
        ];
        let expected = [
            (written[0].as_str(), names[2].to_vec(), 0, names[2].to_vec()),
            (&written[1], names[3].to_vec(), 0, names[3].to_vec()),
            (&written[2], names[0].to_vec(), 0, names[0].to_vec()),
            (&written[3], names[1].to_vec(), 0, names[1].to_vec()),
            (&written[4], b"deep\xe9/plain".to_vec(), 0, b"deep".to_vec()),
        ];
        assert_eq!(stored, expected);
    }
}

/// The name of the folder that contains a session file may be invalid UTF-8. The bytes of the name
/// identify the folder.
#[test]
fn a_folder_whose_name_is_no_utf8_is_as_good_as_another() {
    for scene in every_store() {
        let folder = scene.folder.path().join(bytes(b"projects\xff/-w"));
        let results = folder.join(SESSION).join("tool-results");
        fs::create_dir_all(&results).unwrap();
        fs::write(folder.join(format!("{SESSION}.jsonl")), format!("{RECORD}\n")).unwrap();
        fs::write(results.join("a.txt"), b"beside").unwrap();
        let first = scene.import(&folder);
        assert_eq!((first.files, first.sidecars.files), (1, 1));
        let again = scene.import(&folder);
        assert_eq!((again.unchanged, again.sidecars.unchanged), (1, 1));
        let name = format!("{SESSION}/tool-results/a.txt");
        assert_eq!(stored(&scene, SESSION), [(name, 0, true, b"beside".to_vec())]);
        let more =
            RECORD.replace("u1", "u2").replace("\"parentUuid\":null", "\"parentUuid\":\"u1\"");
        let file = folder.join(format!("{SESSION}.jsonl"));
        fs::write(&file, format!("{RECORD}\n{more}\n")).unwrap();
        assert_eq!(scene.import(&folder).sources[0].bytes, more.len() as u64 + 1);
        assert_eq!(Importer::new(&scene.engine).sessions_of(&file).unwrap(), [id(SESSION)]);
    }
}
