//! Cases: a redaction takes the payloads of events away wherever the store has them, and nothing
//! else.

use forklore_core::operation::{OperationKind, Outcome};
use forklore_core::{Redaction, SessionId};
use forklore_store::error::{Error, Result};
use forklore_store::port::{
    At, Children, Deletion, EventRedaction, LogEntry, NewSession, Redacted, Redactions, Write,
};
use forklore_store::sources::{FindSource, SourceSpan};

use super::following::Follower;
use super::operations;
use super::sources::{create, import, new, step};
use crate::events::{rich, turns, user};
use crate::scene::{LONG, Scene, forward, id, refused};

/// Returns the event that redacts `entry`, with this reason.
fn redaction(entry: &LogEntry, reason: &str) -> EventRedaction {
    let (bytes, at) = (entry.event.data.get().len() as u64, "2026-11-28T00:00:00Z");
    let by = Some("me".to_owned());
    let redaction = Redaction { bytes, reason: reason.into(), at: at.parse().unwrap(), by };
    EventRedaction {
        origin: entry.origin.clone(),
        event_id: entry.event.id.clone(),
        data: redaction.payload_of(&entry.event),
    }
}

fn commit(scene: &Scene<'_>, redactions: Redactions) -> Result<Redacted> {
    scene.store().commit(Write::Redact(Box::new(redactions)).into())?.redacted()
}

fn redact(scene: &Scene<'_>, events: Vec<EventRedaction>) -> Result<Redacted> {
    commit(scene, Redactions { events, ..Redactions::default() })
}

/// Redacts the events at these seqs of a session's history.
#[track_caller]
fn at(scene: &Scene<'_>, session: &str, seqs: &[usize]) -> Redacted {
    let log = scene.log(session);
    let events: Vec<_> = seqs.iter().map(|seq| redaction(&log[*seq], "secret")).collect();
    let origins = events.iter().map(|one| one.origin.clone()).collect();
    let done = redact(scene, events).unwrap();
    assert_eq!(done, Redacted { events: origins, titles: Vec::new() });
    done
}

/// Returns the history in which the events with these origins are redacted.
fn without(log: &[LogEntry], redacted: &Redacted) -> Vec<LogEntry> {
    let mut log = log.to_vec();
    for entry in log.iter_mut().filter(|entry| redacted.events.contains(&entry.origin)) {
        entry.event.data = redaction(entry, "secret").data;
    }
    log
}

pub(super) fn all_but_the_payload_stays(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 5, turns(2));
    let sessions = ["a", "b"];
    let before = sessions.map(|session| (scene.header(session), scene.log(session)));
    let all: Vec<_> = (0..before[0].1.len()).collect();
    let redacted = at(scene, "a", &all);
    for (session, (header, log)) in sessions.iter().zip(before) {
        assert_eq!(scene.header(session), header);
        assert_eq!(scene.log(session), without(&log, &redacted));
    }
    scene.append("a", turns(1));
    scene.fork("a", "c", 4, turns(1));
    scene.assert_sound();
}

pub(super) fn every_fork_and_copy_shows_it(scene: &Scene<'_>) {
    scene.root("a", turns(3));
    scene.fork("a", "b", 4, turns(1));
    scene.copy("b", "c", 6, turns(1));
    scene.fork("a", "d", 5, turns(1));
    scene.fork("c", "e", 7, turns(1));
    scene.detach("d");
    scene.root("other", turns(3));
    let sessions = ["a", "b", "c", "d", "e", "other"];
    let before = sessions.map(|session| scene.log(session));
    scene.trash(&["e"], Children::Retain).unwrap();
    let redacted = at(scene, "a", &[1, 3]);
    scene.undelete("e", "e").unwrap();
    for (session, log) in sessions.iter().zip(&before) {
        assert_eq!(scene.log(session), without(log, &redacted), "{session}");
    }
    let own = at(scene, "b", &[5]);
    for (session, log) in sessions.iter().zip(&before) {
        assert_eq!(scene.log(session), without(&without(log, &redacted), &own), "{session}");
    }
    scene.pack();
    scene.collect();
    for (session, log) in sessions.iter().zip(&before) {
        assert_eq!(scene.log(session), without(&without(log, &redacted), &own), "{session}");
    }
    scene.assert_sound();
}

pub(super) fn each_position_of_a_long_log_can_be_redacted(scene: &Scene<'_>) {
    scene.root("a", turns(150));
    scene.fork("a", "b", 170, turns(40));
    scene.copy("b", "c", 200, turns(5));
    scene.pack();
    let sessions = ["a", "b", "c"];
    let before = sessions.map(|session| (scene.header(session), scene.log(session)));
    let redacted = at(scene, "a", &[0, 1, 63, 64, 65, 127, 128, 169, 299]);
    for round in 0..3 {
        for (session, (header, log)) in sessions.iter().zip(&before) {
            let expected = without(log, &redacted);
            assert_eq!((scene.header(session), scene.log(session)), (header.clone(), expected));
        }
        for seq in [0_u64, 1, 62, 63, 64, 65, 100, 127, 128, 129, 299] {
            let found = scene.page("a", At::Index(seq), 1).events;
            assert_eq!(found[0].seq, seq);
            let turn = scene.page("a", At::Turn(seq / 2 + 1), 1).events;
            assert_eq!(turn[0].seq, seq / 2 * 2);
            let inherited = scene.page("a", At::Inheritable(seq + 1), 1).events;
            assert_eq!(inherited[0].seq, seq);
        }
        if round == 0 { scene.pack() } else { scene.collect() }
    }
    scene.append("a", turns(70));
    scene.fork("a", "d", 300, turns(1));
    scene.detach("d");
    scene.pack();
    let (whole, child) = (scene.log("a"), scene.log("d"));
    for (one, other) in whole.iter().zip(&child[1..]).take(300) {
        assert_eq!((&one.event, &one.origin), (&other.event, &other.origin));
    }
    scene.assert_sound();
}

pub(super) fn redacting_again_changes_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let before = scene.log("a");
    let redacted = at(scene, "a", &[1]);
    let after = scene.log("a");
    let mut reader = Follower::now(scene);
    let again = vec![redaction(&before[1], "another reason")];
    assert_eq!(redact(scene, again).unwrap(), Redacted::default());
    assert_eq!(scene.log("a"), after);
    assert_eq!(after, without(&before, &redacted));
    reader.read(scene, 0, super::following::NO_TIME);
    assert_eq!(reader.last, []);
}

pub(super) fn a_leased_writer_refuses_it(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    let (log, child) = (scene.log("a"), scene.log("b"));
    scene.hold("a", "run", LONG).unwrap();
    let events = vec![redaction(&child[5], "secret"), redaction(&log[0], "secret")];
    let leased = Error::Leased { session: id("a"), owner: "run".into() };
    refused(redact(scene, events), &leased);
    assert_eq!((scene.log("a"), scene.log("b")), (log, child));
}

pub(super) fn what_is_not_the_event_that_was_read_is_refused(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let log = scene.log("a");
    let mut wrong = redaction(&log[2], "secret");
    wrong.event_id = "another".parse().unwrap();
    let events = vec![redaction(&log[0], "secret"), wrong];
    let error = redact(scene, events).unwrap_err();
    assert!(matches!(&error, Error::Stale { what, .. } if what == "the event"), "{error:?}");
    let mut unknown = redaction(&log[0], "secret");
    unknown.origin.session_id = id("unknown");
    refused(redact(scene, vec![unknown]), &Error::NotFound(id("unknown")));
    assert_eq!(scene.log("a"), log);
    // An event that the store does not have is left out.
    let mut behind = redaction(&log[0], "secret");
    behind.origin.seq = 99;
    assert_eq!(redact(scene, vec![behind]).unwrap(), Redacted::default());
}

pub(super) fn what_an_erased_session_wrote_can_be_redacted(scene: &Scene<'_>) {
    scene.root("a", turns(3));
    scene.fork("a", "b", 4, turns(1));
    scene.fork("a", "c", 4, turns(1));
    scene.detach("c");
    let before = ["b", "c"].map(|session| scene.log(session));
    scene.delete("a");
    scene.collect();
    let redacted = at(scene, "b", &[2]);
    for (session, log) in ["b", "c"].iter().zip(&before) {
        assert_eq!(scene.log(session), without(log, &redacted), "{session}");
    }
    scene.delete("b");
    scene.collect();
    let more = at(scene, "c", &[1]);
    assert_eq!(scene.log("c"), without(&without(&before[1], &redacted), &more));
    scene.assert_sound();
}

pub(super) fn titles_go(scene: &Scene<'_>) {
    let titled = NewSession { title: Some("a secret".into()), ..scene.draft("a", turns(1)) };
    scene.store().create(titled).unwrap();
    scene.root("b", turns(1));
    let titles = vec![id("a"), id("b")];
    let before = scene.header("a");
    let done = commit(scene, Redactions { titles, ..Redactions::default() }).unwrap();
    assert_eq!(done, Redacted { events: Vec::new(), titles: vec![id("a")] });
    assert_eq!(scene.header("a"), forklore_core::Header { title: None, ..before });
    scene.assert_sound();
}

pub(super) fn the_feed_reports_it_as_created(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    scene.copy("a", "c", 3, turns(1));
    scene.root("other", turns(1));
    let mut reader = Follower::now(scene);
    at(scene, "a", &[1]);
    reader.read(scene, 0, super::following::NO_TIME);
    let mut seen: Vec<_> =
        reader.last.iter().map(|change| (change.session.as_str(), change.created)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [("a", true), ("c", true)]);
}

pub(super) fn redacted_events_are_listed(scene: &Scene<'_>) {
    scene.root("a", turns(60));
    scene.fork("a", "b", 100, turns(2));
    scene.copy("a", "c", 100, turns(2));
    let listed = |session: &str| scene.store().redacted(&id(session)).unwrap();
    assert_eq!([listed("a"), listed("b"), listed("c")], [const { Vec::<u64>::new() }; 3]);
    at(scene, "a", &[3, 70, 119]);
    at(scene, "b", &[101]);
    at(scene, "c", &[103]);
    scene.pack();
    assert_eq!(listed("a"), [3, 70, 119]);
    assert_eq!(listed("b"), [101]);
    assert_eq!(listed("c"), [4, 71, 103]);
    refused(scene.store().redacted(&id("unknown")), &Error::NotFound(id("unknown")));
}

pub(super) fn a_repeated_append_is_still_recognised(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let mut append = scene.appending(turns(1));
    append.expect = Some(1);
    scene.store().append(&id("a"), append.clone()).unwrap();
    at(scene, "a", &[2, 3]);
    let after = scene.log("a");
    assert!(scene.store().append(&id("a"), append).unwrap().repeated);
    assert_eq!(scene.log("a"), after);
}

pub(super) fn gc_gives_back_what_was_redacted(scene: &Scene<'_>) {
    let megabyte = user(&"0123456789abcdef".repeat(1 << 16));
    scene.root("a", vec![user("small"), megabyte, user("small too")]);
    scene.copy("a", "b", 2, vec![]);
    let full = scene.store().store_bytes().unwrap();
    at(scene, "a", &[1]);
    scene.collect();
    let left = scene.store().store_bytes().unwrap();
    assert!(left + (3 << 19) <= full, "{full} bytes before, {left} after");
    assert_eq!(scene.texts("a"), ["small", "user_message", "small too"]);
    assert_eq!(scene.store().gc().unwrap().events, 0);
    scene.assert_sound();
}

pub(super) fn stored_bytes_of_files_go(scene: &Scene<'_>) {
    for (path, name) in [("/f", "a"), ("/g", "b")] {
        import(scene.store(), step(new(), path, 4, vec![create(name)])).unwrap();
    }
    let source = |session: &str| {
        scene.store().sources(&FindSource::Session(id(session))).unwrap()[0].clone()
    };
    let spans = |source| scene.store().source_spans(source, 0).unwrap().unwrap();
    let (a, b) = (source("a"), source("b"));
    let log = scene.log("a");
    let events = log.first().map(|entry| redaction(entry, "secret")).into_iter().collect();
    let titles = Vec::new();
    commit(scene, Redactions { events, titles, sources: vec![a.id] }).unwrap();
    assert_eq!(spans(a.id), [SourceSpan::Gone(4)]);
    assert_eq!(spans(b.id), [SourceSpan::Other(b"kept".to_vec())]);
    scene.collect();
    assert_eq!(spans(a.id), [SourceSpan::Gone(4)]);
    assert_eq!((source("a"), source("b")), (a, b));
    scene.assert_sound();
}

pub(super) fn it_is_recorded_and_names_are_forgotten(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    let title = |session: &SessionId, title: &str| Write::Change {
        session: session.clone(),
        change: forklore_store::port::Change::Title(Some(title.into())),
    };
    operations::done(scene, OperationKind::Rename, vec![title(&id("b"), "a secret")]);
    let (log, child) = (scene.log("a"), scene.log("b"));
    let events = [&log[0], &child[6], &log[1]].map(|entry| redaction(entry, "a key")).to_vec();
    let bytes = |entries: &[&LogEntry]| {
        entries.iter().map(|entry| entry.event.data.get().len() as u64).sum::<u64>()
    };
    let redactions = Redactions { events, titles: vec![id("b")], sources: Vec::new() };
    let write = || Write::Redact(Box::new(redactions.clone()));
    operations::done(scene, OperationKind::Redact, vec![write()]);
    assert_eq!(operations::done(scene, OperationKind::Redact, vec![write()]), None);
    let recorded = operations::all(scene);
    let outcome = |session: &str, events, bytes| Outcome::Redacted {
        session_id: id(session),
        events,
        bytes,
        reason: "a key".into(),
    };
    let expected = [
        vec![outcome("a", 2, bytes(&[&log[0], &log[1]])), outcome("b", 1, bytes(&[&child[6]]))],
        vec![Outcome::Forgotten { session_id: id("b") }],
    ];
    let outcomes: Vec<_> = recorded.into_iter().map(|operation| operation.outcomes).collect();
    assert_eq!(outcomes, expected);
    scene.assert_sound();
}

pub(super) fn it_outlives_a_reopening(scene: &mut Scene<'_>) {
    scene.root("a", turns(40));
    scene.fork("a", "b", 50, turns(1));
    let before = ["a", "b"].map(|session| scene.log(session));
    let redacted = at(scene, "a", &[0, 30, 79]);
    scene.reopen();
    for (session, log) in ["a", "b"].iter().zip(&before) {
        assert_eq!(scene.log(session), without(log, &redacted));
    }
    assert_eq!(scene.store().redacted(&id("a")).unwrap(), [0, 30, 79]);
    scene.append("a", turns(1));
    scene.assert_sound();
}

pub(super) fn what_was_erased_stays_erased(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let log = scene.log("a");
    let ids = [id("a")];
    scene.store().delete(&ids, Children::Retain, Deletion::Erase, scene.clock.now()).unwrap();
    scene.collect();
    let events = vec![redaction(&log[0], "secret")];
    assert_eq!(redact(scene, events).unwrap(), Redacted::default());
    refused(scene.store().read(&id("a"), &forward(At::Seq(0), 1, false)), &Error::Deleted(id("a")));
    scene.assert_sound();
}
