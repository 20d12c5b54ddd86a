//! Runs the conformance suite, with all capabilities, on real servers: on PostgreSQL, on the same
//! through PgBouncer in transaction mode, and on a newer PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a store that cannot be opened ends the test"
)]

use forklore_conformance::{Factory, Handle, TestStore};
use forklore_core::SessionId;
use forklore_pgserver::{Target, Tenant};
use forklore_postgres::PostgresStore;

/// Creates a test for each case, in a module of the target's name.
macro_rules! suite_on {
    ($module:ident, $target:ident) => {
        mod $module {
            use forklore_conformance::suite;
            use forklore_pgserver::Target;

            use super::Tenants;

            suite!(
                Tenants(Target::$target);
                durable, processes, maintenance, sources, attachments, shared_attachments,
                operations, shared_operations, loss
            );
        }
    };
}

suite_on!(direct, Direct);
suite_on!(pooled, Pooled);
suite_on!(newest, Newest);

/// Creates stores in one database, each the store of a tenant.
struct Tenants(Target);

impl Factory for Tenants {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(OfTenant(Tenant::on(self.0).unwrap_or_else(|none| panic!("{none}"))))
    }

    fn join(&self, address: &str) -> Handle {
        Handle::new(PostgresStore::open(address.parse().unwrap()).unwrap())
    }

    /// The random histories compare the store with a model. They take most of the suite's time, so
    /// the other targets run few.
    fn histories(&self) -> u32 {
        if self.0 == Target::Direct { 32 } else { 2 }
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
