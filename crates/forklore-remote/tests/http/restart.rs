//! Servers that are killed and started again while they are used.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore_conformance::Handle;
use forklore_conformance::events::user;
use forklore_conformance::scene::{Scene, id};
use forklore_remote::HttpStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store;
use forklore_store::port::{Append, Since};

use crate::server::Server;

const RESTARTS: usize = 8;
/// How many appends there are between two restarts, at least.
const BETWEEN: usize = 12;

#[test]
fn appends_go_on_after_a_restart_and_none_is_lost_or_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = || Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let mut server = Server::start(store());
    let address = server.address;
    let url = format!("{}?deadline=60", server.url());
    let client = Arc::new(HttpStore::open(url.parse().unwrap()).unwrap());
    let shared = Arc::clone(&client);
    let factory = move || Handle::shared(Arc::<HttpStore>::clone(&shared));
    let scene = Scene::new(&factory);
    scene.root("root", vec![]);
    let done = AtomicUsize::new(0);
    let count = RESTARTS * BETWEEN * 2;
    let _server = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..count {
                let head = i64::try_from(number).unwrap() - 1;
                let append = scene.appending(vec![user(&format!("q{number}"))]);
                let append = Append { expect: Some(head), ..append };
                let appended = client.append(&id("root"), append).unwrap();
                assert_eq!(appended.head_seq, head + 1);
                done.fetch_add(1, Ordering::SeqCst);
            }
        });
        for restart in 1..=RESTARTS {
            while done.load(Ordering::SeqCst) < restart * BETWEEN && !writer.is_finished() {
                std::thread::yield_now();
            }
            drop(server);
            let listener = loop {
                match TcpListener::bind(address) {
                    Ok(listener) => break listener,
                    Err(_) => std::thread::yield_now(),
                }
            };
            server = Server::on(listener, store(), None);
        }
        writer.join().unwrap();
        server
    });
    let expected: Vec<_> = (0..count).map(|number| format!("q{number}")).collect();
    assert_eq!(scene.texts("root"), expected);
    assert_eq!(client.verify(None).unwrap().problems, []);
}

#[test]
fn a_follower_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = || Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let server = Server::start(store());
    let address = server.address;
    let url = format!("{}?deadline=60", server.url());
    let client = Arc::new(HttpStore::open(url.parse().unwrap()).unwrap());
    let since = client.changes(&Since::Now, 0, Duration::ZERO).unwrap().mark;
    let shared = store();
    let factory = move || Handle::shared(Arc::<SqliteStore>::clone(&shared));
    let scene = Scene::new(&factory);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| {
            client.changes(&Since::Mark(since), 0, Duration::from_secs(600)).unwrap().sessions
        });
        drop(server);
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(_) => std::thread::yield_now(),
            }
        };
        let _server = Server::on(listener, store(), None);
        scene.root("root", vec![]);
        let sessions: Vec<_> = follower.join().unwrap().into_iter().map(|it| it.session).collect();
        assert_eq!(sessions, [id("root")]);
    });
}
