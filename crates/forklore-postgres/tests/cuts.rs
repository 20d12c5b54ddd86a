//! Cuts connections at many bytes, in both directions: those to the server and those to a pooler. Each
//! call must end in success or in an error that says what is known, and nothing may be stored twice
//! or in part.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{turns, user};
use forklore_conformance::proxy::{Proxy, Side};
use forklore_conformance::scene::{Scene, id};
use forklore_pgserver::{Target, Tenant};
use forklore_postgres::PostgresStore;
use forklore_store::Store;
use forklore_store::attachments::check;
use forklore_store::port::Append;

/// Creates the tests of a target, in a module of its name.
macro_rules! tests_on {
    ($module:ident, $target:ident) => {
        mod $module {
            use forklore_pgserver::Target;

            #[test]
            fn an_append_after_a_head_happens_once_wherever_its_connection_is_cut() {
                super::an_append_after_a_head_happens_once(Target::$target);
            }

            #[test]
            fn an_append_without_a_head_is_never_stored_twice() {
                super::an_append_without_a_head_is_never_stored_twice(Target::$target);
            }

            #[test]
            fn an_attachment_is_whole_or_absent_wherever_its_connection_is_cut() {
                super::an_attachment_is_whole_or_absent(Target::$target);
            }
        }
    };
}

tests_on!(direct, Direct);
tests_on!(pooled, Pooled);

/// Returns the store of a tenant behind a proxy. It has one connection for its calls.
fn behind_proxy(tenant: &Tenant) -> (Arc<PostgresStore>, Proxy) {
    let url = tenant.url();
    let (_, after) = url.split_once('@').unwrap();
    let (server, _) = after.split_once('/').unwrap();
    let proxy = Proxy::before(server).unwrap();
    let url = url.replace(server, &proxy.address());
    let address = format!("{url}&pool=1&listen=no&deadline=60").parse().unwrap();
    (Arc::new(PostgresStore::open(address).unwrap()), proxy)
}

/// Cuts at every `step`th byte in both directions until `call` ends before the cut. `call` gets the
/// number of the cut.
fn sweep(store: &PostgresStore, proxy: &Proxy, step: usize, mut call: impl FnMut(usize)) -> usize {
    let mut cuts = 0;
    for side in [Side::ToServer, Side::ToClient] {
        for bytes in (1..).step_by(step) {
            // The connection is there before bytes are counted.
            let _ = store.now();
            proxy.cut_after(side, bytes);
            call(cuts);
            cuts += 1;
            if !proxy.end() {
                break;
            }
        }
    }
    cuts
}

/// Waits until the server has ended the transactions of connections that were cut: one of them may
/// still commit what it received.
fn settle(tenant: &Tenant) {
    let sql = "DO $$ BEGIN
             WHILE EXISTS (SELECT FROM pg_stat_activity
                 WHERE application_name = 'forklore {tenant}' AND state <> 'idle') LOOP
                 PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
             END LOOP;
         END $$";
    tenant.execute(&sql.replace("{tenant}", tenant.name())).unwrap();
}

fn scene(store: &Arc<PostgresStore>) -> impl Fn() -> Handle + use<> {
    let store = Arc::clone(store);
    move || Handle::shared(Arc::<PostgresStore>::clone(&store))
}

fn an_append_after_a_head_happens_once(target: Target) {
    let tenant = Tenant::on(target).unwrap_or_else(|none| panic!("{none}"));
    let (store, proxy) = behind_proxy(&tenant);
    let factory = scene(&store);
    let scene = Scene::new(&factory);
    scene.root("root", turns(1));
    let begun = store.header(&id("root")).unwrap().head_seq();
    let cuts = sweep(&store, &proxy, 97, |number| {
        let head = begun + i64::try_from(number).unwrap();
        let append = scene.appending(vec![user(&format!("q{number}"))]);
        let appended = store.append(&id("root"), Append { expect: Some(head), ..append });
        assert_eq!(appended.map(|appended| appended.head_seq).unwrap(), head + 1, "cut {number}");
    });
    assert!(cuts > 20, "{cuts}");
    assert_eq!(store.verify(None).unwrap().problems, []);
}

fn an_append_without_a_head_is_never_stored_twice(target: Target) {
    let tenant = Tenant::on(target).unwrap_or_else(|none| panic!("{none}"));
    let (store, proxy) = behind_proxy(&tenant);
    let factory = scene(&store);
    let scene = Scene::new(&factory);
    scene.root("root", turns(1));
    let mut head = store.header(&id("root")).unwrap().head_seq();
    let (mut unknown, mut is_stored) = (0, [0, 0]);
    sweep(&store, &proxy, 97, |number| {
        let append = scene.appending(vec![user(&format!("q{number}"))]);
        let appended = store.append(&id("root"), Append { expect: None, ..append });
        settle(&tenant);
        let now = store.header(&id("root")).unwrap().head_seq();
        match appended {
            Ok(_) => assert_eq!(now, head + 1, "cut {number}"),
            Err(error) => {
                assert!(error.to_string().contains("it is not known whether"), "{error}");
                let added = usize::try_from(now - head).unwrap();
                is_stored[added] += 1;
                unknown += 1;
            }
        }
        head = now;
    });
    assert!(unknown > 0 && is_stored[1] > 0, "{unknown} {is_stored:?}");
    assert_eq!(store.verify(None).unwrap().problems, []);
}

fn an_attachment_is_whole_or_absent(target: Target) {
    let tenant = Tenant::on(target).unwrap_or_else(|none| panic!("{none}"));
    let (store, proxy) = behind_proxy(&tenant);
    let attachments = store.attachments().unwrap();
    let (mut put, mut failed) = (0, 0);
    sweep(&store, &proxy, 7, |number| {
        let bytes = format!("attachment {number}").into_bytes();
        match attachments.put(&mut bytes.as_slice(), 1 << 20) {
            Ok(pin) => {
                put += 1;
                let length = u64::try_from(bytes.len()).unwrap();
                assert_eq!(check(&*attachments, &pin.id).unwrap(), Some(length), "{number}");
            }
            Err(_) => failed += 1,
        }
    });
    assert!(put > 0 && failed > 0, "{put} {failed}");
    for attachment in attachments.list().unwrap() {
        assert_eq!(check(&*attachments, &attachment.id).unwrap(), Some(attachment.bytes));
    }
}
