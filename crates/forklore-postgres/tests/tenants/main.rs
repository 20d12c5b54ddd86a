//! Tests that a login of the database that is given to one tenant reads and changes nothing of
//! another one, whatever SQL it sends, and that forklore works with it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a broken expectation ends the test")]

mod catalogue;
mod client;
mod statements;
mod versions;
mod world;

use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::Handle;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::Scene;
use forklore_core::ErrorKind;
use forklore_postgres::{Init, PostgresStore};
use forklore_store::Store as _;
use forklore_store::port::{Filter, Since};
use sha2::{Digest as _, Sha256};

use self::statements::{CHANGES, PROBES, READS};
use self::world::{A, B, World, reveals};

/// Puts the names of the roles into a statement.
fn named(world: &World, sql: &str) -> String {
    let sql = sql.replace("{owner}", &world.role("o")).replace("{me}", &world.role("a"));
    sql.replace("{b}", &world.role("b"))
}

fn rolled_back(sql: &str) -> String {
    format!("BEGIN; {sql}; ROLLBACK")
}

/// Runs a statement and takes it back. COPY can only be sent alone.
fn tried(world: &World, role: &str, sql: &str) -> String {
    let client = world.client(role);
    client.answer(&if sql.starts_with("COPY") { sql.to_owned() } else { rolled_back(sql) })
}

#[test]
fn a_hostile_login_reads_nothing_of_another_tenant() {
    let world = World::new();
    let _working = world.store("b", B).sessions(&Filter::default(), None, 0).unwrap();
    for sql in READS {
        let sql = named(&world, sql);
        // Without row security the statement would show it.
        let shown = tried(&world, "postgres", &sql);
        assert!(reveals(&shown), "{sql}\n{shown}");
        let answer = tried(&world, "a", &sql);
        assert!(!reveals(&answer), "{sql}\n{answer}");
    }
    for sql in PROBES {
        let answer = world.client("a").answer(&named(&world, sql));
        assert!(!reveals(&answer), "{sql}\n{answer}");
    }
    assert!(READS.len() + PROBES.len() >= 40);
}

#[test]
fn a_hostile_login_changes_nothing_of_another_tenant() {
    let world = World::new();
    let superuser = world.client("postgres");
    let before = world.state(&superuser);
    assert!(reveals(&before));
    for sql in CHANGES {
        let sql = named(&world, sql);
        // Without row security and rights the statement would change it.
        superuser.answer(&format!("BEGIN; {sql}"));
        assert_ne!(world.state(&superuser), before, "{sql}");
        superuser.answer("ROLLBACK");
        let answer = world.client("a").answer(&sql);
        assert_eq!(world.state(&superuser), before, "{sql}\n{answer}");
        assert!(!reveals(&answer), "{sql}\n{answer}");
    }
    let store = world.store("b", B);
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
    assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 2);
    Scene::new(&factory).append("zebra-two", vec![user("still here")]);
}

#[test]
fn no_error_and_no_estimate_tells_what_another_tenant_has() {
    let world = World::new();
    let client = world.client("a");
    let differing = |sql: &str, there: &str, absent: &str| {
        let answers = [there, absent].map(|value| {
            let answer = client.answer(&sql.replace("{}", value));
            assert!(answer.len() > 3, "{sql}: {answer}");
            answer.replace(value, "")
        });
        assert_eq!(answers[0], answers[1], "{sql}");
    };
    let cost = "EXPLAIN (ANALYZE, TIMING off, SUMMARY off)";
    for table in ["store", "session", "event", "name", "attachment", "source_key"] {
        differing(
            &format!("{cost} SELECT * FROM forklore.{table} WHERE tenant = '{{}}'"),
            B,
            "zappa",
        );
        let update = "UPDATE forklore.{table} SET tenant = tenant WHERE tenant = '{}'";
        differing(&format!("{cost} {}", update.replace("{table}", table)), B, "zappa");
    }
    differing("EXPLAIN SELECT * FROM forklore.session WHERE id < '{}'", "zebra-two", "zzzzz-two");
    differing("EXPLAIN SELECT * FROM forklore.session WHERE label = '{}'", "main", "mien");
    // A key that another tenant has, and one that nobody has.
    for clause in ["", "ON CONFLICT DO NOTHING", "ON CONFLICT (tenant) DO UPDATE SET id = ''"] {
        differing(&format!("INSERT INTO forklore.store VALUES ('{{}}', 'x') {clause}"), B, "zappa");
    }
    differing("INSERT INTO forklore.operation VALUES ('zebra', {}, NULL, 0)", "900009", "800008");
    differing("INSERT INTO forklore.login VALUES ('{}', 'x')", B, "zappa");
}

#[test]
fn nobody_else_hears_of_the_commits_of_a_tenant() {
    let world = World::new();
    let superuser = world.client("postgres");
    let channel = |identity: &str| {
        let digest = Sha256::digest(identity.as_bytes());
        let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("forklore_{digits}")
    };
    let id = superuser.answer("SELECT id FROM forklore.store WHERE tenant = 'zebra'");
    superuser.answer(&format!("LISTEN {}", channel(id.trim())));
    let hostile = world.client("a");
    for guess in ["forklore".to_owned(), format!("forklore_{B}"), channel(B), channel("")] {
        hostile.answer(&format!("LISTEN {guess}"));
    }
    let store = world.store("b", B);
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
    Scene::new(&factory).append("zebra-two", vec![user("anybody there?")]);
    while !superuser.answer("SELECT 1").contains("notified") {}
    assert_eq!(hostile.answer("SELECT 1"), "1\n");
}

#[test]
fn forklore_works_with_the_login_of_a_tenant() {
    let world = World::new();
    let store = world.store("a", A);
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
    let scene = Scene::new(&factory);
    let begun = store.changes(&Since::Now, 10, Duration::ZERO).unwrap();
    scene.append("apple-one", turns(2));
    scene.fork("apple-one", "apple-three", 3, turns(1));
    scene.copy("apple-three", "apple-four", 2, turns(1));
    // Transactions of other tests may hold a part of the changes back for a moment.
    let (mut mark, mut changed) = (begun.mark, Vec::new());
    while changed.len() < 3 {
        let page = store.changes(&Since::Mark(mark), 10, Duration::from_secs(60)).unwrap();
        changed.extend(page.sessions.iter().map(|one| one.session.to_string()));
        mark = page.mark;
    }
    assert_eq!(changed, ["apple-one", "apple-three", "apple-four"]);
    assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 4);
    scene.delete("apple-two");
    store.gc().unwrap();
    assert!(store.store_bytes().unwrap() > 0);
    scene.assert_sound();
}

#[test]
fn the_owner_sees_every_tenant_and_an_ungiven_login_none() {
    let world = World::new();
    for tenant in [A, B] {
        let store = world.store("o", tenant);
        assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 2);
    }
    let refused = |role: &str, tenant: &str| {
        let refused = PostgresStore::open_existing(world.of_store(role, tenant)).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{refused}");
        refused.to_string()
    };
    assert!(refused("a", B).contains("is given to the tenant apple"));
    assert!(refused("n", B).contains("permission denied"));
    let name = world.role("n");
    let rights = format!(
        "GRANT USAGE ON SCHEMA forklore TO {name};
         GRANT ALL ON ALL TABLES IN SCHEMA forklore TO {name}"
    );
    assert_eq!(world.client("o").answer(&rights), "");
    assert!(refused("n", B).contains("by tier init with --tenant-login"));
    let seen = world.client("n").answer("SELECT tenant FROM forklore.store");
    assert_eq!(seen, "");
}

#[test]
fn only_a_login_that_can_be_confined_is_given_to_a_tenant() {
    let world = World::new();
    let refused = |role: &str, tenant: &str, why: &str| {
        let text = world.give(role, tenant).unwrap_err().to_string();
        assert!(text.contains(why), "{text}");
    };
    refused("x", A, "createuser --pwprompt x_");
    refused("postgres", A, "is a superuser");
    refused("o", A, "owns tables");
    refused("a", B, "is given to the tenant apple already");
    let name = world.role("n");
    for (power, why) in [
        (format!("GRANT {} TO {name}", world.role("o")), "which owns tables"),
        (format!("GRANT pg_read_server_files TO {name}"), "reaches the files"),
        (format!("ALTER ROLE {name} CREATEROLE"), "CREATEROLE"),
        (format!("ALTER ROLE {name} BYPASSRLS"), "bypasses row security"),
    ] {
        world.client("postgres").answer(&power);
        refused("n", A, why);
        let back = power.replace("GRANT", "REVOKE").replace(" TO ", " FROM ");
        let back = back.replace(" CREATEROLE", " NOCREATEROLE").replace(" BYPASS", " NOBYPASS");
        world.client("postgres").answer(&back);
    }
    world.give("n", A).unwrap();
    world.give("n", A).unwrap();
    assert_eq!(world.store("n", A).sessions(&Filter::default(), None, 0).unwrap().sound.len(), 2);
    // A login cannot give itself anything.
    let init = Init { tenant_login: Some(world.role("n")), ..Init::default() };
    let denied = init.execute(world.of_store("a", A)).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::PermissionDenied, "{denied}");
}

#[test]
fn a_distributed_store_has_no_feed_and_no_logins_of_tenants() {
    let world = World::new();
    // What `--distributed` leaves, without the nodes of Citus.
    let distributed = "INSERT INTO forklore.layout VALUES ('distributed', 'citus');
         DROP POLICY tenant ON forklore.session; DROP POLICY owner ON forklore.session;
         ALTER TABLE forklore.session NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY";
    assert_eq!(world.client("o").answer(distributed), "");
    let store = world.store("o", B);
    assert_eq!(store.sessions(&Filter::default(), None, 0).unwrap().sound.len(), 2);
    let refused = store.changes(&Since::Now, 10, Duration::ZERO).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("has no feed of changes"), "{refused}");
    assert_eq!(world.give("n", A).unwrap_err().kind(), ErrorKind::Unsupported);
    let tables = Init::default().execute(world.of_store("o", B)).unwrap();
    assert!(tables.distributed);
}

#[test]
fn tables_are_distributed_only_by_a_database_with_citus() {
    let world = World::empty();
    let init = Init { distributed: true, ..Init::default() };
    let refused = init.execute(world.of_store("o", A)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.to_string().contains("no extension citus"), "{refused}");
    assert!(!PostgresStore::exists(world.of_store("o", A)).unwrap());
    let both = Init { partitions: Some(2), ..init };
    assert_eq!(both.execute(world.of_store("o", A)).unwrap_err().kind(), ErrorKind::InvalidArgs);
    for wrong in [0, 1_024] {
        let init = Init { partitions: Some(wrong), ..Init::default() };
        let refused = init.execute(world.of_store("o", A)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgs, "{wrong}");
    }
    let init = |partitions| Init { partitions, ..Init::default() }.execute(world.of_store("o", A));
    assert_eq!(init(Some(2)).unwrap().partitions, 2);
    assert_eq!(init(None).unwrap().partitions, 2);
    assert_eq!(init(Some(3)).unwrap_err().kind(), ErrorKind::InvalidArgs);
}
