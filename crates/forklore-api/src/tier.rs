//! Types of `tier`: the tables of a store in a PostgreSQL database.

use serde::{Deserialize, Serialize};

/// The answer of `tier init`: the tables that a PostgreSQL database has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierTables {
    /// The address of the store, without a password.
    pub store: String,
    /// The tenant: the store of the database that the address names.
    pub tenant: String,
    /// The version of the tables.
    pub version: u64,
    /// The version of the tables before. `null` if there were none.
    pub before: Option<u64>,
    /// The number of partitions of each large table. 0 if it is not divided.
    pub partitions: u32,
    /// Whether Citus distributes the tables over several servers.
    pub distributed: bool,
    /// The login of the database that was given to the tenant. `null` if none was named.
    pub tenant_login: Option<String>,
}
