//! Runs the conformance suite on tables that are partitioned by family, with a login of its own for
//! each store, which row security confines to its tenant.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a store that cannot be opened ends the test"
)]

#[path = "tenants/client.rs"]
mod client;

use std::sync::OnceLock;

use forklore_conformance::{Factory, Handle, TestStore, suite};
use forklore_core::SessionId;
use forklore_pgserver::Tenant;
use forklore_postgres::{Init, PostgresStore};

use self::client::Client;

suite!(
    Partitioned;
    durable, processes, maintenance, sources, attachments, shared_attachments, operations,
    shared_operations, loss
);

const DATABASE: &str = "forklore_partitioned";
const PARTITIONS: u32 = 5;

/// Creates stores in one database, each with a login.
struct Partitioned;

impl Factory for Partitioned {
    fn fresh(&self) -> Box<dyn TestStore> {
        let tenant = Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        static PREPARED: OnceLock<()> = OnceLock::new();
        PREPARED.get_or_init(|| {
            // An earlier run may have created it.
            let _ = tenant.execute(&format!("CREATE DATABASE {DATABASE}"));
        });
        tenant.execute(&format!("CREATE ROLE {} LOGIN", tenant.name())).unwrap();
        let store = OfLogin(tenant);
        let init = Init {
            tenant_login: Some(store.0.name().to_owned()),
            partitions: Some(PARTITIONS),
            ..Init::default()
        };
        let tables = init.execute(store.url("postgres").parse().unwrap()).unwrap();
        assert_eq!(tables.partitions, PARTITIONS);
        Box::new(store)
    }

    fn join(&self, address: &str) -> Handle {
        Handle::new(PostgresStore::open(address.parse().unwrap()).unwrap())
    }

    /// The tables of the other run are not divided, and take the full number.
    fn histories(&self) -> u32 {
        2
    }
}

struct OfLogin(Tenant);

impl OfLogin {
    /// Returns the URL of the store for a role.
    fn url(&self, role: &str) -> String {
        let url = self.0.url().replace("/postgres?", &format!("/{DATABASE}?"));
        url.replace("//postgres@", &format!("//{role}@"))
    }

    /// Executes statements as the superuser.
    fn execute(&self, sql: &str) -> String {
        let url = self.url("postgres");
        let sql = sql.replace("{tenant}", self.0.name());
        Client::connect(url.split_once('?').unwrap().0).answer(&sql)
    }
}

impl TestStore for OfLogin {
    fn open(&self) -> Handle {
        self::Partitioned.join(&self.address())
    }

    fn address(&self) -> String {
        self.url(self.0.name())
    }

    fn can_lose(&self) -> bool {
        true
    }

    /// Removes the row of a session.
    fn lose(&self, session: &SessionId) {
        let sql = "DELETE FROM forklore.session WHERE tenant = '{tenant}' AND id = '{session}'";
        assert_eq!(self.execute(&sql.replace("{session}", session.as_str())), "");
    }
}

impl Drop for OfLogin {
    /// Removes the rows. The role stays as long as the server, because a handle may still be open.
    fn drop(&mut self) {
        self.execute(
            "DO $$ DECLARE t regclass; BEGIN
               FOR t IN SELECT polrelid FROM pg_policy WHERE polname = 'tenant' LOOP
                 EXECUTE format('DELETE FROM %s WHERE tenant = %L', t, '{tenant}');
               END LOOP;
             END $$",
        );
    }
}
