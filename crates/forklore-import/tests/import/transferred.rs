//! Moves imported sessions between stores: their files stay whole, and go on to grow.

use std::fs;
use std::sync::Arc;

use forklore_engine::{Attach, Batch, Engine, NewEvent, SkipReason, Transfer, Transferred};
use forklore_formats::AGENT_FORMATS;

use crate::counted::{Break, Counted};
use crate::files::testdata;
use crate::scene::Scene;

fn transfer(from: &Scene, into: &Scene) -> Transferred {
    from.engine.transfer(&into.engine, &Transfer::default(), &mut |_| true).unwrap()
}

/// Compares every session of two stores, and the files that each was imported from.
fn assert_equal(one: &Scene, other: &Scene) {
    let ids = |scene: &Scene| scene.sessions().into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(one), ids(other));
    for session in ids(one) {
        assert_eq!(one.events(&session), other.events(&session));
        let files = |scene: &Scene| {
            let restored = |file| {
                let mut bytes = Vec::new();
                scene.engine.restore_file(&file, &mut bytes).unwrap();
                (file.about.name, file.about.revision, bytes)
            };
            let files = scene.engine.files(&session).unwrap_or_default();
            files.into_iter().map(restored).collect::<Vec<_>>()
        };
        assert_eq!(files(one), files(other), "{session}");
    }
}

#[test]
fn sessions_of_every_agent_make_a_round_trip_with_their_files() {
    for agent in ["claude/projects", "codex/home", "pi", "amplifier/projects", "pixir/.pixir"] {
        let (laptop, tier, other) = (Scene::sqlite(), Scene::files(), Scene::sqlite());
        laptop.import(&testdata().join(agent));
        let done = transfer(&laptop, &tier);
        assert_eq!(done.skipped, [], "{agent}");
        assert!(done.sources > 0);
        assert_equal(&laptop, &tier);
        let again = transfer(&laptop, &tier);
        assert_eq!((again.events, again.sources, again.skipped), (0, 0, Vec::new()), "{agent}");

        transfer(&tier, &other);
        let first = other.sessions().remove(0).id;
        let event = NewEvent::user("and now there").unwrap();
        other.engine.append(&first, &Batch::from(event)).unwrap();
        transfer(&other, &tier);
        let back = transfer(&tier, &laptop);
        assert_eq!((back.events, back.skipped), (1, Vec::new()), "{agent}");
        assert_equal(&laptop, &other);
        // The other machine goes on with the import where the first one stopped.
        let imported = other.import(&testdata().join(agent));
        let appended: u64 = imported.sessions.iter().map(|session| session.appended).sum();
        assert_eq!((appended, imported.problems.len()), (0, 0), "{agent}");
        assert_equal(&laptop, &other);
        for scene in [&laptop, &tier, &other] {
            assert_eq!(scene.engine.verify(None).unwrap().problems, []);
        }
    }
}

#[test]
fn a_file_that_grew_here_grows_there_unless_its_session_parted() {
    let bytes = fs::read(testdata().join("pi/demo.jsonl")).unwrap();
    let half = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(8).unwrap().0 + 1;
    for parts in [false, true] {
        let (here, there) = (Scene::sqlite(), Scene::files());
        here.import_as(&here.file("pi.jsonl", &bytes[..half]), "pi");
        transfer(&here, &there);
        let session = here.sessions().remove(0).id;
        if parts {
            let event = NewEvent::user("another way").unwrap();
            there.engine.append(&session, &Batch::from(event)).unwrap();
        }
        here.import_as(&here.file("pi.jsonl", &bytes), "pi");
        let done = transfer(&here, &there);
        let skipped: Vec<_> = done.skipped.iter().map(|it| it.why).collect();
        if parts {
            assert_eq!(skipped, [SkipReason::Source]);
            assert_eq!(there.restore(&session), bytes[..half]);
        } else {
            assert_eq!(skipped, []);
            assert_eq!(there.restore(&session), bytes);
            assert_equal(&here, &there);
        }
        assert_eq!(transfer(&here, &there).events, 0);
    }
}

#[test]
fn a_transfer_that_breaks_at_any_commit_is_completed_by_the_next() {
    let here = Scene::sqlite();
    let files = [
        "codex/home/archived_sessions",
        // It has sidecars.
        "claude/projects/-home-dev-work-space-a-proj-41/9cb2dfeb-c188-4250-bac1-2b1856ffaa9b.jsonl",
    ];
    let files = files.map(|name| testdata().join(name));
    for file in &files {
        here.import(file);
    }
    let first = here.sessions().remove(0).id;
    let attach = Attach { name: Some("notes.txt".into()), ..Attach::default() };
    here.engine.attach(&first, &mut &b"notes"[..], &attach).unwrap();
    for is_written in [false, true] {
        for after in 0.. {
            let there = Scene::files();
            let breaking = Break { after, is_written };
            let broken = Arc::new(Counted::breaking(there.store.clone(), breaking));
            let into = Engine::new(broken.clone()).with_agent_formats(AGENT_FORMATS);
            let cut = here.engine.transfer(&into, &Transfer::default(), &mut |_| true);
            assert_eq!(cut.is_err(), broken.is_broken(), "{breaking:?}");
            if is_written {
                // The same files are imported there before the transfer is completed.
                let imported = files.iter().map(|path| there.import(path));
                assert_eq!(imported.map(|it| it.problems.len()).sum::<usize>(), 0, "{breaking:?}");
            }
            let done = transfer(&here, &there);
            assert_eq!(done.skipped, [], "{breaking:?}");
            assert_equal(&here, &there);
            assert_eq!(there.engine.verify(None).unwrap().problems, [], "{breaking:?}");
            if !broken.is_broken() {
                break;
            }
        }
    }
}
