//! Tables that an older version of forklore wrote.

use forklore_core::ErrorKind;
use forklore_postgres::{Init, PostgresStore, status};
use forklore_store::Error;

use crate::catalogue::check;
use crate::world::{A, B, World};

/// The tables of the first version.
const FIRST: &str = include_str!("../../src/schema.sql");

/// Creates the tables of the first version, with a store of one tenant.
fn first() -> World {
    let world = World::empty();
    let made = world.client("o").answer(&format!(
        "CREATE SCHEMA forklore; CREATE TABLE forklore.migration (
             version bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());
         {FIRST}
         INSERT INTO forklore.migration (version) VALUES (1);
         INSERT INTO forklore.store (tenant, id) VALUES ('apple', 'the first')"
    ));
    assert_eq!(made, "");
    world
}

fn versions(world: &World) -> String {
    world.client("postgres").answer(
        "SELECT count(*) FROM forklore.migration; SELECT id FROM forklore.store;
         SELECT to_regclass('forklore.login')",
    )
}

#[test]
fn who_only_looks_at_older_tables_hears_what_brings_them_up_to_date() {
    let world = first();
    let refused = PostgresStore::open_existing(world.of_store("o", A)).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(matches!(refused, Error::Outdated { found: 1, needed: 2 }), "{refused}");
    assert!(PostgresStore::exists(world.of_store("o", A)).is_err());
    let health = PostgresStore::health(&world.of_store("o", A));
    assert_eq!(health.worst(), Some(ErrorKind::Unsupported));
    assert_eq!(versions(&world), "1\nthe first\nNULL\n");
}

#[test]
fn the_first_of_several_writers_brings_older_tables_up_to_date() {
    let world = first();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| world.store("o", A));
        }
    });
    assert_eq!(versions(&world), "2\nthe first\nforklore.login\n");
    world.give("a", A).unwrap();
    check(&world);
}

#[test]
fn a_migration_that_fails_leaves_the_tables_as_they_were() {
    let world = first();
    // The second table of the step cannot be created.
    world.client("o").answer("CREATE TABLE forklore.layout ()");
    PostgresStore::open(world.of_store("o", A)).err().unwrap();
    assert_eq!(versions(&world), "1\nthe first\nNULL\n");
    world.client("o").answer("DROP TABLE forklore.layout");
    let tables = Init::default().execute(world.of_store("o", A)).unwrap();
    assert_eq!((tables.before, tables.version), (Some(1), 2));
    assert_eq!(versions(&world), "2\nthe first\nforklore.login\n");
}

#[test]
fn who_may_not_bring_the_tables_up_to_date_hears_who_may() {
    let world = first();
    let name = world.role("n");
    let rights = format!(
        "GRANT USAGE ON SCHEMA forklore TO {name};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA forklore TO {name}"
    );
    assert_eq!(world.client("o").answer(&rights), "");
    let refused = PostgresStore::open(world.of_store("n", A)).err().unwrap();
    assert!(matches!(refused, Error::Outdated { found: 1, needed: 2 }), "{refused}");
    assert_eq!(versions(&world), "1\nthe first\nNULL\n");
}

#[test]
fn new_owners_of_the_tables_take_the_policies_with_them() {
    let world = World::new();
    let name = world.role("n");
    let given = format!(
        "GRANT ALL ON SCHEMA forklore TO {name};
         DO $$ DECLARE t text; BEGIN FOR t IN SELECT oid::regclass FROM pg_class
           WHERE relnamespace = 'forklore'::regnamespace AND relkind = 'r'
         LOOP EXECUTE 'ALTER TABLE ' || t || ' OWNER TO {name}'; END LOOP; END $$"
    );
    assert_eq!(world.client("postgres").answer(&given), "");
    assert_eq!(world.client("n").answer("SELECT count(*) FROM forklore.store"), "0\n");
    Init::default().execute(world.of_store("n", A)).unwrap();
    assert_eq!(world.client("n").answer("SELECT count(*) FROM forklore.store"), "2\n");
    assert_eq!(world.client("o").answer("SELECT 1").trim(), "1");
}

#[test]
fn the_state_of_the_server_is_shown_whatever_the_version_of_the_tables() {
    let world = World::empty();
    let state = || {
        let status = status(world.of_store("o", A)).unwrap();
        (status.tables_version, status.program_version, status.sessions, status.tables.len())
    };
    assert_eq!(state(), (None, 2, None, 0));
    Init::default().execute(world.of_store("o", A)).unwrap();
    assert_eq!(state(), (Some(2), 2, Some(0), 16));
    world.client("o").answer("INSERT INTO forklore.migration (version) VALUES (3)");
    assert_eq!(state(), (Some(3), 2, None, 16));
    let world = first();
    let older = status(world.of_store("o", A)).unwrap();
    assert_eq!((older.tables_version, older.events), (Some(1), None));
}

#[test]
fn a_login_sees_the_state_of_its_own_tenant_only() {
    let world = World::new();
    let own = status(world.of_store("a", A)).unwrap();
    assert_eq!((own.sessions, own.sees_statistics), (Some(2), false));
    let refused = status(world.of_store("a", B)).err().unwrap();
    assert!(matches!(refused, Error::Denied(_)), "{refused}");
    let refused = status(world.of_store("n", A)).err().unwrap();
    assert!(matches!(refused, Error::Denied(_)), "{refused}");
}
