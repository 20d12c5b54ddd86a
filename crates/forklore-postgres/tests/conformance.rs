//! Runs the conformance suite, with all capabilities, on a real PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a store that cannot be opened ends the test"
)]

use forklore_conformance::{Factory, Handle, TestStore, suite};
use forklore_core::SessionId;
use forklore_pgserver::Tenant;
use forklore_postgres::PostgresStore;

suite!(
    Tenants;
    durable, processes, maintenance, sources, attachments, shared_attachments, operations,
    shared_operations, loss
);

/// Creates stores in one database, each the store of a tenant.
struct Tenants;

impl Factory for Tenants {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(OfTenant(Tenant::fresh().unwrap_or_else(|none| panic!("{none}"))))
    }

    fn join(&self, address: &str) -> Handle {
        Handle::new(PostgresStore::open(address.parse().unwrap()).unwrap())
    }
}

struct OfTenant(Tenant);

impl TestStore for OfTenant {
    fn open(&self) -> Handle {
        Handle::new(PostgresStore::open(self.address().parse().unwrap()).unwrap())
    }

    fn address(&self) -> String {
        self.0.url()
    }

    fn can_lose(&self) -> bool {
        true
    }

    /// Removes the row of a session.
    fn lose(&self, session: &SessionId) {
        let sql = "DELETE FROM forklore.session WHERE tenant = '{tenant}' AND id = '{session}'";
        let sql = sql.replace("{tenant}", self.0.name()).replace("{session}", session.as_str());
        self.0.execute(&sql).unwrap();
    }
}
