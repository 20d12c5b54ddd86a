//! Tests the PostgreSQL store beyond what every store must do.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::{Scene, id};
use forklore_core::ErrorKind;
use forklore_pgserver::Tenant;
use forklore_postgres::{Address, PostgresStore};
use forklore_store::Store;
use forklore_store::port::Filter;

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
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(store));
    let scene = Scene::new(&factory);
    scene.root("a", turns(1));
    then(&scene);
    scene.assert_sound();
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
