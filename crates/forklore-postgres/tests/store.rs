//! Tests the PostgreSQL store beyond what every store must do.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{Clock, at_tick, turns, user};
use forklore_conformance::scene::{Scene, id, label};
use forklore_core::{ErrorKind, Header, Usage};
use forklore_pgserver::Tenant;
use forklore_postgres::{Address, PostgresStore};
use forklore_store::port::{Append, Change, Children, Filter};
use forklore_store::{Error, Store};
use jiff::SignedDuration;

fn tenant() -> Tenant {
    Tenant::fresh().unwrap_or_else(|none| panic!("{none}"))
}

fn address(tenant: &Tenant, options: &str) -> Address {
    format!("{}{options}", tenant.url()).parse().unwrap()
}

fn open(tenant: &Tenant, options: &str) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(address(tenant, options)).unwrap())
}

/// Creates the session `a` in the store, calls `then` with the scene, and checks the store.
fn with_session(store: &Arc<PostgresStore>, then: impl FnOnce(&Scene<'_>)) {
    with_scene(store, |scene| {
        scene.root("a", turns(1));
        then(scene);
        scene.assert_sound();
    });
}

/// Calls `then` with a scene over the store as it is.
fn with_scene(store: &Arc<PostgresStore>, then: impl FnOnce(&Scene<'_>)) {
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(store));
    then(&Scene::new(&factory));
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking() {
    let tenant = tenant();
    assert!(!PostgresStore::exists(address(&tenant, "")).unwrap());
    let missing = PostgresStore::open_existing(address(&tenant, "")).err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(!PostgresStore::exists(address(&tenant, "")).unwrap());
    with_session(&open(&tenant, ""), |_| {});
    let found = PostgresStore::open_existing(address(&tenant, "")).unwrap();
    assert_eq!(found.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 1);
}

#[test]
fn a_database_that_is_not_there_is_named_with_the_command_that_creates_it() {
    let url = tenant().url().replace("/postgres?", "/nowhere?");
    assert!(!PostgresStore::exists(url.parse().unwrap()).unwrap());
    let refused = PostgresStore::open(url.parse().unwrap()).err().unwrap();
    let text = refused.to_string();
    assert!(text.contains("/nowhere?") && text.contains("createdb --encoding UTF8"), "{text}");
    assert_eq!(refused.kind(), ErrorKind::InvalidArgs);
}

#[test]
fn two_tenants_of_a_database_do_not_see_each_other() {
    let (one, other) = (tenant(), tenant());
    let stores = [&one, &other].map(|tenant| open(tenant, ""));
    with_session(&stores[0], |_| {});
    assert_eq!(stores[1].header(&id("a")).unwrap_err().kind(), ErrorKind::NotFound);
    with_session(&stores[1], |_| {});
    for store in &stores {
        assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 1);
    }
}

#[test]
fn a_dead_connection_is_replaced() {
    let tenant = tenant();
    let name = tenant.name();
    tenant.execute(&format!("CREATE ROLE {name} LOGIN SUPERUSER")).unwrap();
    let url = tenant.url().replace("postgres@", &format!("{name}@"));
    let address = format!("{url}&pool=1").parse().unwrap();
    let store = Arc::new(PostgresStore::open(address).unwrap());
    with_session(&store, |scene| {
        let begun = scene.header("a").head_seq();
        for number in 0..3 {
            tenant
                .execute(&format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE usename = '{name}' AND pid <> pg_backend_pid()"
                ))
                .unwrap();
            assert_eq!(scene.header("a").head_seq(), begun + number);
            scene.append("a", vec![user(&format!("q{number}"))]);
        }
    });
    tenant.execute(&format!("DROP ROLE {name}")).unwrap();
}

/// What another process does to a session, and the answer to an append that expects the head from
/// before: the kind of the error, or whether the event is there.
type Meanwhile = (fn(&Scene<'_>), Result<(), ErrorKind>);

/// A process that has read or written a session appends to it without locks. Each change that another
/// process makes in between must be noticed, and none must be undone.
#[test]
fn an_append_notices_what_another_process_changed_since_the_session_was_seen() {
    let lease = SignedDuration::from_secs(600);
    let meanwhile: [Meanwhile; 8] = [
        (|scene| assert!(!scene.append("a", turns(1)).repeated), Err(ErrorKind::Conflict)),
        (|scene| drop(scene.change("a", &Change::Title(Some("new".into())))), Ok(())),
        (|scene| drop(scene.change("a", &Change::Label(label("renamed")))), Ok(())),
        (|scene| drop(scene.fork("a", "b", 2, vec![])), Ok(())),
        (
            |scene| drop(scene.hold("a", "run", SignedDuration::from_secs(600))),
            Err(ErrorKind::Busy),
        ),
        (|scene| drop(scene.trash(&["a"], Children::Retain)), Err(ErrorKind::NotFound)),
        (|scene| drop(scene.delete("a")), Err(ErrorKind::NotFound)),
        (
            |scene| {
                scene.trash(&["a"], Children::Retain).unwrap();
                scene.undelete("a", "back").unwrap();
            },
            Ok(()),
        ),
    ];
    for (at, (change, expected)) in meanwhile.into_iter().enumerate() {
        let tenant = tenant();
        let (here, there) = (open(&tenant, ""), open(&tenant, ""));
        with_session(&here, |seen| {
            with_scene(&there, |other| {
                change(other);
                let before = other.store().header(&id("a")).unwrap();
                let append = Append { expect: Some(1), ..seen.appending(vec![user("on")]) };
                let answer = here.append(&id("a"), append).map(drop);
                assert_eq!(answer.map_err(|error| error.kind()), expected, "{at}");
                let after = other.store().header(&id("a")).unwrap();
                let added = u64::from(expected.is_ok());
                assert_eq!(after.own_events, before.own_events + added, "{at}");
                let Header { title, label, lease, deleted, .. } = before;
                assert_eq!((after.title, after.label), (title, label), "{at}");
                assert_eq!((after.lease, after.deleted), (lease, deleted), "{at}");
            });
        });
    }
    // A lease that was lost in between, though this process has seen it as its own.
    let tenant = tenant();
    let (here, there) = (open(&tenant, ""), open(&tenant, ""));
    with_session(&here, |seen| {
        seen.hold("a", "run", lease).unwrap();
        with_scene(&there, |other| {
            other.change("a", &Change::Release { owner: "run".into() });
            other.hold("a", "later", lease).unwrap();
        });
        let append = seen.appending(vec![user("on")]);
        let append = Append { expect: Some(1), owner: Some("run".into()), ..append };
        let refused = here.append(&id("a"), append).unwrap_err();
        assert!(matches!(refused, Error::LeaseLost { .. }), "{refused:?}");
    });
}

/// Two processes append to one session as fast as they can, each after the head that it knows.
#[test]
fn appends_of_two_processes_lose_and_double_nothing() {
    let tenant = tenant();
    let (here, there) = (open(&tenant, ""), open(&tenant, ""));
    with_session(&here, |scene| {
        let writer = |store: &Arc<PostgresStore>, name: &'static str| {
            let (store, clock) = (Arc::clone(store), Clock::default());
            move || {
                let mut head = 1;
                let mut written = Vec::new();
                while written.len() < 100 {
                    let event = format!("{name}-{}", written.len());
                    let events = vec![user(&event).id(&event).build(&clock)];
                    let now = at_tick(1);
                    let usage = Usage::default();
                    let append = Append { events, expect: Some(head), owner: None, usage, now };
                    match store.append(&id("a"), append) {
                        Ok(done) => {
                            head = done.head_seq;
                            written.push((done.from_seq, event));
                        }
                        Err(Error::Conflict { head: now, .. }) => head = now,
                        Err(error) => panic!("{error}"),
                    }
                }
                written
            }
        };
        let mut written = std::thread::scope(|threads| {
            let writers = [threads.spawn(writer(&here, "x")), threads.spawn(writer(&there, "y"))];
            writers.map(|writer| writer.join().unwrap()).concat()
        });
        written.sort();
        let log = scene.log("a").into_iter().skip(2);
        let log: Vec<_> = log.map(|entry| (entry.seq, entry.event.id.to_string())).collect();
        assert_eq!(log, written);
    });
}

#[test]
fn a_connection_that_is_not_encrypted_reads_no_certificates() {
    let tenant = tenant();
    with_session(&open(&tenant, "&sslrootcert=/nowhere.pem"), |_| {});
    let encrypted = address(&tenant, "&sslrootcert=/nowhere.pem&sslmode=verify-full");
    assert!(PostgresStore::open(encrypted).is_err());
}

#[test]
fn no_error_shows_the_password() {
    let url = "postgres://ann:sesame@127.0.0.1:1/team?deadline=2";
    let refused = PostgresStore::open(url.parse().unwrap()).err().unwrap();
    let text = format!("{refused} {refused:?} {}", refused.details());
    assert!(text.contains("ann@127.0.0.1:1/team") && !text.contains("sesame"), "{text}");
}
