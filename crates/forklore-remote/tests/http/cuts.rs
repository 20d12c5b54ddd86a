//! Cuts connections at many bytes, in both directions. Each call must end in success or in an error
//! that says what is known, and nothing may be stored twice or in part.

use std::io::Read;
use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{turns, user};
use forklore_conformance::proxy::{Proxy, Side};
use forklore_conformance::scene::{Scene, id};
use forklore_remote::HttpStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Store;
use forklore_store::attachments::check;
use forklore_store::port::Append;

use crate::server::Server;

/// A store behind a server, which is behind a proxy.
struct Behind {
    store: Arc<HttpStore>,
    proxy: Proxy,
    _server: Server,
    _folder: tempfile::TempDir,
}

impl Behind {
    fn proxy() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db"), Options::default()).unwrap();
        let server = Server::start(Arc::new(store));
        let proxy = Proxy::before(&server.address.to_string()).unwrap();
        let url = format!("http://{}?deadline=60", proxy.address());
        let store = Arc::new(HttpStore::open(url.parse().unwrap()).unwrap());
        Self { store, proxy, _server: server, _folder: folder }
    }

    /// Cuts at every `step`th byte in both directions until `call` ends before the cut. `call` gets
    /// the number of the cut.
    fn sweep(&self, step: usize, mut call: impl FnMut(usize)) -> usize {
        let mut cuts = 0;
        for side in [Side::ToServer, Side::ToClient] {
            for bytes in (1..).step_by(step) {
                // The connection is there before bytes are counted.
                self.store.store_bytes().unwrap();
                self.proxy.cut_after(side, bytes);
                call(cuts);
                cuts += 1;
                if !self.proxy.end() {
                    break;
                }
            }
        }
        cuts
    }

    fn handle(&self) -> impl Fn() -> Handle + use<> {
        let store = Arc::clone(&self.store);
        move || Handle::shared(Arc::<HttpStore>::clone(&store))
    }
}

#[test]
fn an_append_after_a_head_happens_once_wherever_its_connection_is_cut() {
    let behind = Behind::proxy();
    let factory = behind.handle();
    let scene = Scene::new(&factory);
    scene.root("root", turns(1));
    let store = &behind.store;
    let begun = store.header(&id("root")).unwrap().head_seq();
    let cuts = behind.sweep(23, |number| {
        let head = begun + i64::try_from(number).unwrap();
        let append = scene.appending(vec![user(&format!("q{number}"))]);
        let appended = store.append(&id("root"), Append { expect: Some(head), ..append });
        assert_eq!(appended.map(|appended| appended.head_seq).unwrap(), head + 1, "cut {number}");
    });
    assert!(cuts > 20, "{cuts}");
    assert_eq!(store.verify(None).unwrap().problems, []);
}

#[test]
fn an_append_without_a_head_is_never_stored_twice() {
    let behind = Behind::proxy();
    let factory = behind.handle();
    let scene = Scene::new(&factory);
    scene.root("root", vec![]);
    let (mut stored, mut unknown) = (Vec::new(), 0);
    let cuts = behind.sweep(23, |number| {
        let text = format!("q{number}");
        let append = scene.appending(vec![user(&text)]);
        match behind.store.append(&id("root"), Append { expect: None, ..append }) {
            Ok(_) => stored.push(text),
            Err(error) => {
                assert!(error.to_string().contains("it is not known whether"), "{error}");
                unknown += 1;
            }
        }
    });
    assert!(unknown > 0 && stored.len() > 1, "{unknown} of {cuts}");
    let found = scene.texts("root");
    assert!(found.len() > stored.len(), "no call was executed whose answer was cut");
    for text in stored {
        assert_eq!(found.iter().filter(|it| **it == text).count(), 1, "{text}");
    }
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len());
    assert_eq!(behind.store.verify(None).unwrap().problems, []);
}

#[test]
fn an_attachment_is_whole_or_absent_wherever_its_connection_is_cut() {
    let behind = Behind::proxy();
    let attachments = behind.store.attachments().unwrap();
    let (mut put, mut failed) = (0, 0);
    behind.sweep(101, |number| {
        let bytes = format!("attachment {number} ").repeat(200).into_bytes();
        match attachments.put(&mut &bytes[..], u64::MAX) {
            Ok(pin) => {
                put += 1;
                assert_eq!(pin.bytes, bytes.len() as u64);
            }
            Err(error) => {
                failed += 1;
                assert!(error.to_string().contains("attach it again"), "{error}");
            }
        }
    });
    let listed = attachments.list().unwrap();
    assert!(listed.len() >= put, "{} of {put}", listed.len());
    for one in listed {
        assert_eq!(check(&*attachments, &one.id).unwrap(), Some(one.bytes), "{one:?}");
    }
    assert!(put > 1 && failed > 10, "{put} {failed}");
}

#[test]
fn a_part_of_an_attachment_never_passes_for_the_whole() {
    let behind = Behind::proxy();
    let attachments = behind.store.attachments().unwrap();
    let bytes = b"0123456789abcdef".repeat(1_000);
    let pin = attachments.put(&mut &bytes[..], u64::MAX).unwrap();
    let mut failed = 0;
    behind.sweep(211, |_| {
        let mut read = Vec::new();
        match attachments.open(&pin.id).unwrap().unwrap().read_to_end(&mut read) {
            Ok(_) => assert!(read == bytes, "other bytes came back"),
            Err(_) => failed += 1,
        }
    });
    assert!(failed > 10, "{failed}");
}
