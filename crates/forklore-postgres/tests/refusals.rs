//! What people hear from a database that is not as the store needs it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{Clock, turns, user};
use forklore_conformance::scene::{Scene, forward, id};
use forklore_core::{ErrorKind, Usage};
use forklore_pgserver::Tenant;
use forklore_postgres::PostgresStore;
use forklore_store::port::{Append, At};
use forklore_store::{Result, Store};

/// A database of its own, with a store that has the session `a`.
struct Database {
    tenant: Tenant,
    name: String,
}

impl Database {
    fn new() -> Self {
        let tenant = Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        let name = format!("d_{}", tenant.name());
        tenant.execute(&format!("CREATE DATABASE {name}")).unwrap();
        let database = Self { tenant, name };
        let store = Arc::new(database.open().unwrap());
        let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
        Scene::new(&factory).root("a", turns(1));
        database
    }

    fn url(&self) -> String {
        let url = self.tenant.url();
        format!("{}/{}", url.rsplit_once("/postgres").unwrap().0, self.name)
    }

    fn open(&self) -> Result<PostgresStore> {
        PostgresStore::open(self.url().parse().unwrap())
    }

    /// Executes a statement in this database.
    fn execute(&self, sql: &str) {
        let sql = sql.replace('$', &self.name);
        self.tenant.execute_in(&self.name, &sql).unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // If it fails, it ends with the server.
        let _ = self.tenant.execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// Returns the first answer of a store that is no success: to reading, and to an append.
fn first_refusal(store: &PostgresStore) -> Option<(ErrorKind, String)> {
    let clock = Clock::default();
    let events = vec![user("on").id("on").build(&clock)];
    let (usage, now) = (Usage::default(), store.now());
    let append = Append { events, expect: Some(1), owner: None, usage, now };
    let read = store.read(&id("a"), &forward(At::Seq(0), 10, false)).map(drop);
    let answer = read.and_then(|()| store.append(&id("a"), append).map(drop));
    answer.err().map(|error| (error.kind(), error.to_string()))
}

#[test]
fn tables_that_somebody_has_changed_are_damaged_and_named() {
    for (change, names) in [
        ("DROP TABLE forklore.event", "forklore.event"),
        ("DROP TABLE forklore.session", "forklore.session"),
        ("DROP TABLE forklore.name", "forklore.name"),
        ("DROP TABLE forklore.store", "forklore.store"),
        ("DROP TABLE forklore.login CASCADE", "forklore.login"),
        ("DROP TABLE forklore.layout", "forklore.layout"),
        ("ALTER TABLE forklore.event DROP COLUMN data", "data"),
        ("ALTER TABLE forklore.session DROP COLUMN head", "head"),
        ("ALTER TABLE forklore.session ALTER header TYPE jsonb USING header::jsonb", "jsonb"),
        (
            "ALTER TABLE forklore.event ADD COLUMN mine int; \
          ALTER TABLE forklore.event ADD CHECK (mine IS NOT NULL) NOT VALID",
            "event",
        ),
    ] {
        let database = Database::new();
        change.split("; ").for_each(|one| database.execute(one));
        let answer = match database.open() {
            Ok(store) => first_refusal(&store),
            Err(error) => Some((error.kind(), error.to_string())),
        };
        let (kind, text) = answer.unwrap();
        assert_eq!(kind, ErrorKind::Corrupt, "{change}: {text}");
        assert!(text.contains("somebody has changed them") && text.contains(names), "{text}");
    }
}

#[test]
fn tables_of_a_newer_program_are_refused() {
    let database = Database::new();
    database.execute("INSERT INTO forklore.migration (version) VALUES (99)");
    let refused = database.open().err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("version 99"), "{refused}");
}

#[test]
fn a_column_that_somebody_added_does_no_harm() {
    let database = Database::new();
    database.execute("ALTER TABLE forklore.session ADD COLUMN mine int NOT NULL DEFAULT 1");
    assert_eq!(first_refusal(&database.open().unwrap()), None);
}

#[test]
fn what_a_database_sets_for_its_connections_changes_nothing() {
    for setting in [
        "default_transaction_read_only = on",
        "default_transaction_isolation = 'serializable'",
        "default_transaction_isolation = 'repeatable read'",
        "search_path = 'nowhere'",
        "synchronous_commit = off",
        "bytea_output = 'escape'",
        "client_encoding = 'latin1'",
        "datestyle = 'German'",
        "standard_conforming_strings = off",
        "row_security = off",
    ] {
        let database = Database::new();
        database.execute(&format!("ALTER DATABASE $ SET {setting}"));
        assert_eq!(first_refusal(&database.open().unwrap()), None, "{setting}");
    }
}

#[test]
fn a_wrong_password_is_denied_and_not_shown() {
    let database = Database::new();
    let name = format!("ann_{}", database.name);
    let group = "DO $$ BEGIN CREATE ROLE with_password; EXCEPTION WHEN OTHERS THEN END $$";
    database.tenant.execute(group).unwrap();
    for sql in [
        format!("CREATE ROLE {name} LOGIN PASSWORD 'sesame' IN ROLE with_password"),
        format!("ALTER DATABASE {} OWNER TO {name}", database.name),
    ] {
        database.tenant.execute(&sql).unwrap();
    }
    let open = |password: &str| {
        let with = database.url().replace("postgres@", &format!("{name}{password}@"));
        PostgresStore::exists(with.parse().unwrap())
    };
    for password in ["", ":simsim"] {
        let refused = open(password).unwrap_err();
        let text = refused.to_string();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{text}");
        assert!(text.contains("password") && !text.contains("simsim"), "{text}");
    }
    // The right one is let in, to the tables of somebody else.
    let text = open(":sesame").unwrap_err().to_string();
    assert!(!text.contains("password"), "{text}");
    drop(database.tenant.execute(&format!("REASSIGN OWNED BY {name} TO postgres")));
    drop(database.tenant.execute(&format!("DROP ROLE {name}")));
}
