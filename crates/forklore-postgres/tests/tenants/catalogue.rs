//! Rules about the tables, checked in the catalogue of a database.

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::user;
use forklore_conformance::scene::Scene;
use forklore_postgres::{Init, PostgresStore};

use crate::world::{A, World};

/// Queries that find what breaks a rule.
const RULES: &[(&str, &str)] = &[
    (
        "every key of a table with a tenant begins with it, and continues with the family",
        "SELECT i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) FROM pg_index i
         JOIN pg_class c ON c.oid = i.indrelid
         CROSS JOIN LATERAL (SELECT array_agg(a.attname::text ORDER BY k.n) AS key
             FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, n)
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum) key
         WHERE c.relnamespace = 'forklore'::regnamespace AND (i.indisunique OR i.indisprimary)
           AND c.relname NOT IN ('migration', 'layout')
           AND (key.key[1] IS DISTINCT FROM 'tenant' OR (key.key[2] IS DISTINCT FROM 'family'
               AND c.relname <> 'name' AND EXISTS (SELECT FROM pg_attribute a
                   WHERE a.attrelid = c.oid AND a.attname = 'family')))",
    ),
    (
        "every table has a primary key",
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'forklore'::regnamespace
         AND c.relkind IN ('r', 'p') AND NOT EXISTS (
             SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)",
    ),
    (
        "there is no foreign key and no other constraint with a code of its own",
        "SELECT conrelid::regclass, conname FROM pg_constraint
         WHERE connamespace = 'forklore'::regnamespace AND contype NOT IN ('p', 'u', 'n')",
    ),
    (
        "there is no sequence",
        "SELECT relname FROM pg_class WHERE relnamespace = 'forklore'::regnamespace AND relkind = 'S'",
    ),
    (
        "there is no trigger and no rule",
        "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
             WHERE c.relnamespace = 'forklore'::regnamespace
         UNION ALL SELECT rulename FROM pg_rules WHERE schemaname = 'forklore'",
    ),
    (
        "there is no function that could run with the rights of the owner",
        "SELECT proname FROM pg_proc WHERE pronamespace = 'forklore'::regnamespace",
    ),
    (
        "texts and bytes are stored as they were written, and have no statistics",
        "SELECT c.relname, a.attname, a.atttypid::regtype, a.attstattarget FROM pg_class c
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = 'forklore'::regnamespace AND c.relkind IN ('r', 'p')
           AND NOT (a.atttypid = ANY ('{int8,int2,bool,timestamptz}'::regtype[])
               OR (a.atttypid = ANY ('{text,bytea}'::regtype[]) AND a.attstattarget = 0))",
    ),
    (
        "every table with a tenant has row security, also for its owner",
        "SELECT relname FROM pg_class c WHERE c.relnamespace = 'forklore'::regnamespace
         AND c.relkind IN ('r', 'p') AND EXISTS (SELECT FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attname = 'tenant')
         AND NOT (relrowsecurity AND relforcerowsecurity)",
    ),
    (
        "every table with a tenant has the two policies, and a partition that of the owner",
        "SELECT c.relname, p.names FROM pg_class c
         CROSS JOIN LATERAL (SELECT coalesce(array_agg(polname::text ORDER BY polname), '{}') AS names
             FROM pg_policy p WHERE p.polrelid = c.oid AND polcmd = '*' AND polpermissive) p
         WHERE c.relnamespace = 'forklore'::regnamespace AND c.relkind IN ('r', 'p')
           AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
           AND p.names <> CASE WHEN c.relispartition THEN '{owner}' ELSE '{owner,tenant}'::text[] END",
    ),
    (
        "nobody but the owner changes who has which tenant, or has a right on a partition",
        "SELECT c.relname, a.* FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.relnamespace = 'forklore'::regnamespace AND a.grantee <> c.relowner
           AND (c.relispartition OR a.is_grantable OR a.privilege_type NOT IN
               ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
             OR c.relname IN ('login', 'layout', 'migration') AND a.privilege_type <> 'SELECT')",
    ),
];

/// Checks every rule.
pub(crate) fn check(world: &World) {
    let superuser = world.client("postgres");
    for (rule, breaches) in RULES {
        assert_eq!(superuser.answer(breaches), "", "{rule}");
    }
    let tables = superuser.answer(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'forklore'::regnamespace
         AND relkind IN ('r', 'p') AND NOT relispartition",
    );
    assert_eq!(tables, "16\n");
}

#[test]
fn the_tables_are_as_designed() {
    check(&World::new());
}

#[test]
fn the_partitioned_tables_are_as_designed() {
    let world = World::empty();
    let init = Init { partitions: Some(3), tenant_login: Some(world.role("a")), ..Init::default() };
    let tables = init.execute(world.of_store("o", A)).unwrap();
    assert_eq!((tables.before, tables.partitions, tables.distributed), (None, 3, false));
    check(&world);
    let parts = world.client("postgres").answer(
        "SELECT inhparent::regclass, count(*) FROM pg_inherits i JOIN pg_class c
         ON c.oid = i.inhparent AND c.relkind = 'p' GROUP BY 1 ORDER BY 1",
    );
    assert_eq!(parts, "forklore.session|3\nforklore.event|3\n");
    // A dump by the owner reads the partitions one by one.
    let store = world.store("a", A);
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
    Scene::new(&factory).root("one", vec![user("hello")]);
    let count = |role: &str, tables: &str| {
        let union = tables.split(' ').map(|table| format!("SELECT id FROM forklore.{table}"));
        let union: Vec<_> = union.collect();
        let sql = format!("SELECT count(*) FROM ({}) s", union.join(" UNION ALL "));
        world.client(role).answer(&sql)
    };
    let parts = "session_0 session_1 session_2";
    assert_eq!((count("o", parts), count("a", "session")), ("1\n".into(), "1\n".into()));
    assert!(count("a", parts).contains("permission denied"));
}
