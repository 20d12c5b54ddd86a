//! Tests of recovering a damaged store: all readable events are recovered at their log positions.

use forklore::Engine;
use forklore::engine::{LostKind, Recovery};
use forklore::store::clock::StoreClock;
use forklore::store::memory::MemoryStore;
use forklore_faults::golden::{self, Answers};
use forklore_faults::kind::Kind;
use jiff::Timestamp;

use crate::golden::{STORES, copy, stores};

/// Returns a clock that shows a time after all times in the golden stores. It is needed because a
/// store records no time later than its own clock.
fn later() -> StoreClock {
    StoreClock::new(|| Timestamp::from_second(1_900_000_000).unwrap())
}

fn memory() -> Engine {
    Engine::new(std::sync::Arc::new(MemoryStore::default().with_clock(later())))
        .with_agent_formats(forklore::formats::AGENT_FORMATS)
}

/// Removes from the answers what a recovery does not reproduce: leases, and counts of deleted
/// sessions.
fn comparable(mut answers: Answers) -> Answers {
    for header in answers.headers.values_mut() {
        header["lease"].take();
        header["session"]["status"].take();
        if header["session"]["deleted"] == true {
            let session = &header["session"];
            *header = serde_json::json!([session["id"], session["parent_id"], session["root_id"]]);
        }
    }
    answers
}

#[test]
fn a_sound_store_is_saved_whole() {
    for (kind, name) in STORES {
        for golden in stores(kind, name) {
            let dir = tempfile::tempdir().unwrap();
            let expected = comparable(copy(&golden, dir.path()));
            let from = kind.open(dir.path()).unwrap();
            for (into, what) in targets() {
                let salvage = from.engine.recover(&into).unwrap();
                assert_eq!(salvage.lost, [], "into {what}");
                let saved = comparable(Answers::of(&into).unwrap());
                assert_eq!(saved.headers, expected.headers, "into {what}");
                assert_eq!(saved.logs, expected.logs, "into {what}");
                assert_eq!(saved.restored, expected.restored, "into {what}");
                assert_eq!(into.verify(None).unwrap().problems, []);
                let again = from.engine.recover(&into).unwrap_err();
                assert_eq!(again.kind(), forklore::core::ErrorKind::AlreadyExists);
            }
        }
    }
}

fn targets() -> Vec<(Engine, String)> {
    let mut targets = vec![(memory(), "memory".to_owned())];
    for (kind, name) in STORES {
        // The directory is never removed, because the returned engine uses it.
        let dir = tempfile::tempdir().unwrap().keep();
        targets.push((kind.open_at(&dir, later()).unwrap().engine, name.to_owned()));
    }
    targets
}

/// Damages a golden SQLite store and recovers it. Compares all logs, except for the lines
/// `changed`, which must contain a marker of the loss.
fn damaged(sql: &str, changed: &[(&str, usize)], check: impl FnOnce(&Recovery, &Engine)) {
    let golden = stores(Kind::Sqlite, "sqlite").remove(0);
    let dir = tempfile::tempdir().unwrap();
    let mut expected = copy(&golden, dir.path());
    // Opening the store upgrades it to the current version.
    drop(Kind::Sqlite.open(dir.path()).unwrap());
    let file = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    assert!(file.execute(sql, []).unwrap() > 0, "{sql}");
    drop(file);
    let before = std::fs::read(dir.path().join("store.db")).unwrap();
    let from = Kind::Sqlite.open(dir.path()).unwrap();
    let into = memory();
    let salvage = from.engine.recover(&into).unwrap();
    drop(from);
    assert!(std::fs::read(dir.path().join("store.db")).unwrap() == before, "the source changed");
    let mut saved = Answers::of(&into).unwrap();
    for (session, line) in changed {
        let (was, is) = (expected.logs.get_mut(*session), saved.logs.get_mut(*session));
        let (was, is) = (was.unwrap().remove(*line), is.unwrap().remove(*line));
        assert_ne!(was, is, "{session} line {line}");
        assert!(is.contains("\"type\":\"x.lost\""), "{is}");
    }
    for (session, log) in &saved.logs {
        assert_eq!(log, &expected.logs[session], "{session}");
    }
    assert_eq!(into.verify(None).unwrap().problems, []);
    check(&salvage, &into);
}

/// Returns the number (`sid`) of a session in the golden SQLite store.
fn sid(session: &str) -> i64 {
    let golden = stores(Kind::Sqlite, "sqlite").remove(0);
    let dir = tempfile::tempdir().unwrap();
    copy(&golden, dir.path());
    let file = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    let sql = "SELECT sid FROM session WHERE id = ?";
    file.query_row(sql, [session], |row| row.get(0)).unwrap()
}

fn event(session: &str, position: i64) -> i64 {
    sid(session) << 32 | position
}

#[test]
fn a_lost_payload_leaves_a_marker_and_every_number() {
    // The damaged event is the answer to the first question, in the parent of the deepest session.
    let sql = format!(
        "UPDATE event SET payload = payload || ' ' WHERE k = {}",
        event("golden-deep-34", 2)
    );
    let seqs =
        |into: &Engine, session: &str| golden::log(into, &session.parse().unwrap()).unwrap().len();
    let own = seqs_of("golden-deep-34");
    let inherited = own - 1;
    damaged(
        &sql,
        &[("golden-deep-34", own - 1), ("golden-deep-35", inherited)],
        |salvage, into| {
            assert_eq!(salvage.lost.len(), 1, "{:?}", salvage.lost);
            let lost = &salvage.lost[0];
            assert_eq!(lost.what, LostKind::Data);
            assert_eq!(lost.session_id, "golden-deep-34".parse().ok());
            assert_eq!(lost.seq, Some(own as u64 - 1));
            assert!(lost.reason.contains("payload"), "{}", lost.reason);
            assert_eq!(seqs(into, "golden-deep-34"), own);
        },
    );
}

fn seqs_of(session: &str) -> usize {
    let golden = stores(Kind::Sqlite, "sqlite").remove(0);
    let dir = tempfile::tempdir().unwrap();
    copy(&golden, dir.path()).logs[session].len()
}

#[test]
fn a_lost_event_is_found_again_in_a_copy() {
    // `golden-copy` and `golden-detached` have their own copies of the root's first turns.
    let sql = format!("UPDATE event SET ts = ts + 1 WHERE k = {}", event("golden-main", 6));
    damaged(&sql, &[], |salvage, _| assert_eq!(salvage.lost, []));
}

#[test]
fn a_lost_event_without_a_copy_keeps_its_class() {
    // Removes the call that the last turn of the root leaves open. It is after the cut of every
    // fork.
    let sql = format!("DELETE FROM event WHERE k = {}", event("golden-main", 18));
    damaged(&sql, &[("golden-main", 18)], |salvage, into| {
        assert_eq!(salvage.lost.len(), 1, "{:?}", salvage.lost);
        assert_eq!((salvage.lost[0].what, salvage.lost[0].seq), (LostKind::Event, Some(18)));
        let log = golden::log(into, &"golden-main".parse().unwrap()).unwrap();
        assert!(log[18].contains("\"class\":\"conversation\""), "{}", log[18]);
    });
}

#[test]
fn what_descendants_inherit_of_a_lost_session_is_saved() {
    let sql = "UPDATE session SET title = 'x' WHERE id = 'golden-share'";
    damaged(sql, &[("golden-share", 0)], |salvage, into| {
        let lost: Vec<_> = salvage.lost.iter().map(|lost| lost.what).collect();
        assert!(lost.contains(&LostKind::Header), "{:?}", salvage.lost);
        let deepest = golden::log(into, &"golden-deep-35".parse().unwrap()).unwrap();
        assert_eq!(deepest.len(), seqs_of("golden-deep-35"));
    });
}

#[test]
fn what_descendants_of_a_deleted_child_inherit_of_a_lost_session_is_saved() {
    let sql = "UPDATE session SET title = 'x' WHERE id = 'golden-heir'";
    damaged(sql, &[("golden-heir", 0)], |_, into| {
        let last = golden::log(into, &"golden-last".parse().unwrap()).unwrap();
        assert_eq!(last.len(), seqs_of("golden-last"));
        assert!(!last.iter().any(|line| line.contains("no descendant has it")), "{last:?}");
    });
}
