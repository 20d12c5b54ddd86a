//! A database with an owner and the logins of two tenants.

use std::sync::Arc;

use forklore_conformance::Handle;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::Scene;
use forklore_pgserver::Tenant;
use forklore_postgres::{Address, Init, PostgresStore};

use crate::client::Client;

/// The tenant that attacks, and the tenant whose every text contains its name.
pub(crate) const A: &str = "apple";
pub(crate) const B: &str = "zebra";
/// The bytes of that name as the server shows them.
const B_BYTES: &str = "7a65627261";

pub(crate) struct World {
    server: Tenant,
    address: String,
}

impl World {
    /// Creates the database and its roles, without tables.
    pub(crate) fn empty() -> Self {
        let server = Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        let address = server.url().split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
        let world = Self { server, address };
        let name = world.name();
        world
            .server
            .execute(&format!(
            "CREATE ROLE o_{name} LOGIN; CREATE ROLE a_{name} LOGIN; CREATE ROLE b_{name} LOGIN;
             CREATE ROLE n_{name} LOGIN"
        ))
            .unwrap();
        world.server.execute(&format!("CREATE DATABASE d_{name} OWNER o_{name}")).unwrap();
        world
    }

    /// Creates the database with tables, and the stores of both tenants, each by its login.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        for (login, tenant) in [("a", A), ("b", B)] {
            world.give(login, tenant).unwrap();
            let store = world.store(login, tenant);
            let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
            let scene = Scene::new(&factory);
            scene.root(&format!("{tenant}-one"), vec![user(&format!("the secret of {tenant}"))]);
            scene.fork(&format!("{tenant}-one"), &format!("{tenant}-two"), 1, turns(1));
        }
        let filled = world.client("o").answer(
            "INSERT INTO forklore.operation VALUES ('zebra', 900009, 'zebra', 0);
             INSERT INTO forklore.source VALUES ('zebra', 9, 'zebra', 0, 1);
             INSERT INTO forklore.source_key VALUES ('zebra', 1, 'zebra', 9);
             INSERT INTO forklore.source_step VALUES ('zebra', 9, 0, 'zebra', 0);
             INSERT INTO forklore.source_record VALUES ('zebra', 9, 1, 0, 0, false);
             INSERT INTO forklore.attachment VALUES ('zebra', 'zebra', 'zebra', 5, 1);
             INSERT INTO forklore.attachment_part VALUES ('zebra', 'zebra', 0, 'zebra');
             INSERT INTO forklore.attachment_upload VALUES ('zebra', 'zebra', 'zebra', 0);
             INSERT INTO forklore.attachment_pin VALUES ('zebra', 'zebra', 'zebra', 'zebra', 0);
             CREATE SCHEMA reports;
             CREATE VIEW reports.sessions AS SELECT * FROM forklore.session;
             CREATE FUNCTION reports.texts() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER
                 AS 'SELECT data FROM forklore.event';
             GRANT USAGE ON SCHEMA reports TO PUBLIC;
             GRANT SELECT, UPDATE, DELETE ON reports.sessions TO PUBLIC",
        );
        assert_eq!(filled, "");
        let name = world.name();
        let more = format!("GRANT CREATE ON DATABASE d_{name} TO a_{name}; ANALYZE");
        assert_eq!(world.client("postgres").answer(&more), "");
        world
    }

    pub(crate) fn name(&self) -> &str {
        self.server.name()
    }

    /// Returns the name of a role: `o`, the owner; `a` and `b`, logins of the tenants; `n`, a login
    /// of no tenant; `postgres`, the superuser.
    pub(crate) fn role(&self, role: &str) -> String {
        if role == "postgres" { role.to_owned() } else { format!("{role}_{}", self.name()) }
    }

    fn url(&self, role: &str) -> String {
        format!("postgres://{}@{}/d_{}", self.role(role), self.address, self.name())
    }

    pub(crate) fn client(&self, role: &str) -> Client {
        Client::connect(&self.url(role))
    }

    pub(crate) fn of_store(&self, role: &str, tenant: &str) -> Address {
        format!("{}?tenant={tenant}", self.url(role)).parse().unwrap()
    }

    pub(crate) fn store(&self, role: &str, tenant: &str) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::open(self.of_store(role, tenant)).unwrap())
    }

    /// Gives a role as a login to a tenant, as the owner.
    pub(crate) fn give(&self, role: &str, tenant: &str) -> forklore_store::Result<()> {
        let init = Init { tenant_login: Some(self.role(role)), ..Init::default() };
        init.execute(self.of_store("o", tenant)).map(drop)
    }

    /// Returns everything that must not change: the rows of the other tenant, who is given what, and
    /// the definitions of tables, policies, rights and roles.
    pub(crate) fn state(&self, superuser: &Client) -> String {
        superuser.answer(
            "SELECT query_to_xml(format('SELECT * FROM %s t WHERE tenant = ''zebra'' ORDER BY t', c.oid::regclass),
                 true, true, '') FROM pg_class c WHERE c.relnamespace = 'forklore'::regnamespace
                 AND c.relkind IN ('r', 'p') AND EXISTS (SELECT FROM pg_attribute a
                     WHERE a.attrelid = c.oid AND a.attname = 'tenant') ORDER BY c.relname;
             SELECT * FROM forklore.login ORDER BY login;
             SELECT * FROM forklore.layout; SELECT * FROM forklore.migration;
             SELECT relname, relowner, relacl, relrowsecurity, relforcerowsecurity, relhastriggers,
                 relhasrules, relnatts FROM pg_class WHERE relnamespace = 'forklore'::regnamespace
                 ORDER BY relname;
             SELECT * FROM pg_policies ORDER BY tablename, policyname;
             SELECT nspname, nspowner, nspacl FROM pg_namespace WHERE nspname IN ('forklore', 'reports');
             SELECT count(*) FROM pg_proc WHERE pronamespace = 'forklore'::regnamespace;
             SELECT oid, rolname, rolsuper, rolbypassrls, rolcreaterole, rolreplication, rolconfig
                 FROM pg_roles WHERE rolname LIKE '_' || substr(current_database(), 2) ORDER BY oid;
             SELECT * FROM pg_auth_members m WHERE member IN (SELECT oid FROM pg_roles
                 WHERE rolname LIKE '_' || substr(current_database(), 2)) ORDER BY roleid",
        )
    }
}

/// Checks whether a text contains something of the other tenant.
pub(crate) fn reveals(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains(B) || text.contains(B_BYTES)
}

impl Drop for World {
    fn drop(&mut self) {
        let name = self.name();
        for sql in [
            format!("DROP DATABASE d_{name} WITH (FORCE)"),
            format!("DROP ROLE o_{name}, a_{name}, b_{name}, n_{name}"),
        ] {
            // If it fails, they end with the server.
            let _ = self.server.execute(&sql);
        }
    }
}
