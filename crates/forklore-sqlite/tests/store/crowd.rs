//! Many processes at once: nothing is lost, nothing comes twice, nobody starves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use forklore_model::{Data, Event, EventId, EventType, SessionId, payload};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::conformance::events::at_tick;
use forklore_store::conformance::{Scene, events::turns};
use forklore_store::port::{Append, Children, Store};

use crate::child::{Process, await_go, tell};
use crate::place::{Place, handle};

const PROCESSES: usize = 8;
const APPENDS: usize = 500;

fn append(store: &SqliteStore, session: &str, text: &str) -> String {
    let kind: EventType = "user_message".parse().unwrap();
    let data = Data::parse(&format!("{{\"content\":\"{text}\"}}")).unwrap();
    let (class, effect) = payload::check(&kind, None, &data).unwrap();
    let id: EventId = text.parse().unwrap();
    let event = Event { id, ts: at_tick(1), kind, class, dialect: None, effect, data };
    let now = at_tick(2);
    let events = vec![event];
    let append = Append { events, expect: None, owner: None, usage: Default::default(), now };
    let appended = store.append(&session.parse().unwrap(), append).unwrap();
    format!("{session} {} {text}", appended.to_seq)
}

/// What one of the processes does.
pub(crate) fn work(file: &Path, number: &str) {
    let store = Arc::new(SqliteStore::open(file, Options::default()).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    tell("ready");
    await_go();
    let own = format!("own-{number}");
    for at in 0..APPENDS {
        tell(&append(&store, "one", &format!("{number}.{at}")));
        tell(&append(&store, &own, &format!("{number}.{at}")));
        if at % 50 == 0 {
            let child = format!("fork-{number}-{at}");
            scene.fork("one", &child, 2, turns(1));
            tell(&append(&store, &child, &format!("{number}.{at}")));
        }
        if at % 100 == 0 {
            let child: SessionId = format!("fork-{number}-{at}").parse().unwrap();
            store.remove(&[child], Children::Keep, at_tick(3)).unwrap();
        }
    }
}

#[test]
fn nothing_is_lost_and_nobody_starves() {
    let place = Place::new();
    let store = place.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("one", turns(1));
    let mut processes = Vec::new();
    for number in 0..PROCESSES {
        scene.root(&format!("own-{number}"), vec![]);
        processes.push(Process::start(&format!("crowd {number}"), &place.file()));
    }
    for process in &mut processes {
        assert_eq!(process.heard().as_deref(), Some("ready"));
    }
    processes.iter_mut().for_each(Process::go);
    let mut told = BTreeMap::new();
    for (number, mut process) in processes.into_iter().enumerate() {
        while let Some(line) = process.heard() {
            let mut words = line.split(' ').map(str::to_owned);
            let (session, seq) = (words.next().unwrap(), words.next().unwrap());
            let seq: u64 = seq.parse().unwrap();
            assert!(told.insert((session, seq), words.next().unwrap()).is_none(), "{line}");
        }
        assert!(process.child.wait().unwrap().success(), "process {number} failed");
    }
    // What was told stands where it was told to stand, and nothing else does.
    let gone = |session: &str| scene.header(session).deleted.is_some();
    told.retain(|(session, _), _| !gone(session));
    let mut there = BTreeMap::new();
    for session in told.keys().map(|key| key.0.clone()).collect::<std::collections::BTreeSet<_>>() {
        let own = if session.starts_with("fork") { 5 } else { usize::from(session == "one") * 2 };
        for stored in scene.log(&session).into_iter().skip(own) {
            there.insert((session.clone(), stored.seq), stored.event.id.to_string());
        }
    }
    assert_eq!(there, told);
    assert_fair(&there);
    scene.assert_sound();
}

/// When the first process was done with the session they share, the others were well on the way.
fn assert_fair(there: &BTreeMap<(String, u64), String>) {
    let mut done = [0; PROCESSES];
    for ((session, _), text) in there {
        if session == "one" {
            let number: usize = text.split_once('.').unwrap().0.parse().unwrap();
            done[number] += 1;
            if done[number] == APPENDS {
                break;
            }
        }
    }
    assert!(done.iter().all(|done| *done >= APPENDS / 4), "{done:?}");
}
