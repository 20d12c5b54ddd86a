//! Tests the PostgreSQL store beyond what every store must do.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a broken expectation ends the test")]

use forklore_core::workspace::Workspace;
use forklore_core::{
    Class, Data, Effect, ErrorKind, Event, EventType, Label, SessionId, SessionKind,
};
use forklore_pgserver::Tenant;
use forklore_postgres::{Address, PostgresStore};
use forklore_store::Store;
use forklore_store::port::{Append, Filter, NewSession};

fn tenant() -> Tenant {
    Tenant::fresh().unwrap_or_else(|none| panic!("{none}"))
}

fn address(tenant: &Tenant, options: &str) -> Address {
    format!("{}{options}", tenant.url()).parse().unwrap()
}

fn root(store: &PostgresStore, id: &str) -> SessionId {
    let id: SessionId = id.parse().unwrap();
    let new = NewSession {
        id: id.clone(),
        kind: SessionKind::Root,
        label: Label::main(),
        title: None,
        workspace: Workspace::new("/work"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: None,
        source: None,
        copy_of: None,
        created: store.now(),
        from: None,
        events: Vec::new(),
        usage: Default::default(),
    };
    store.create(new).unwrap();
    id
}

fn append(store: &PostgresStore, id: &str) -> Append {
    let event = Event {
        id: id.parse().unwrap(),
        ts: store.now(),
        kind: EventType::USER_MESSAGE,
        class: Class::Conversation,
        dialect: None,
        effect: Effect { starts_turn: true, calls: Vec::new() },
        data: Data::parse(r#"{"content":"hello"}"#).unwrap(),
    };
    let (expect, owner, usage) = (None, None, Default::default());
    Append { events: vec![event], expect, owner, usage, now: store.now() }
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking() {
    let tenant = tenant();
    assert!(!PostgresStore::exists(address(&tenant, "")).unwrap());
    let missing = PostgresStore::open_existing(address(&tenant, "")).err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(!PostgresStore::exists(address(&tenant, "")).unwrap());
    root(&PostgresStore::open(address(&tenant, "")).unwrap(), "a");
    let found = PostgresStore::open_existing(address(&tenant, "")).unwrap();
    assert_eq!(found.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 1);
}

#[test]
fn two_tenants_of_a_database_do_not_see_each_other() {
    let (one, other) = (tenant(), tenant());
    let stores = [&one, &other].map(|tenant| PostgresStore::open(address(tenant, "")).unwrap());
    let id = root(&stores[0], "a");
    assert_eq!(stores[1].header(&id).unwrap_err().kind(), ErrorKind::NotFound);
    root(&stores[1], "a");
    for store in &stores {
        assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 1);
    }
}

#[test]
fn a_dead_connection_is_replaced() {
    let tenant = tenant();
    let store = PostgresStore::open(address(&tenant, "&pool=1")).unwrap();
    let id = root(&store, "a");
    let name = format!("forklore {}", tenant.name());
    for number in 0..3 {
        tenant
            .execute(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = '{name}' AND pid <> pg_backend_pid()"
            ))
            .unwrap();
        assert_eq!(store.header(&id).unwrap().head_seq(), number - 1);
        store.append(&id, append(&store, &format!("e{number}"))).unwrap();
    }
    assert_eq!(store.verify(None).unwrap().problems, []);
}

#[test]
fn no_error_shows_the_password() {
    let url = "postgres://ann:sesame@127.0.0.1:1/team?deadline=2";
    let refused = PostgresStore::open(url.parse().unwrap()).err().unwrap();
    let text = format!("{refused} {refused:?} {}", refused.details());
    assert!(text.contains("ann@127.0.0.1:1/team") && !text.contains("sesame"), "{text}");
}
