//! The state of a store in a database and of its server, for the people who operate it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::SessionId;

/// The state of a store in a PostgreSQL database, and of the database's server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierStatus {
    /// The address of the store, without a password.
    pub store: String,
    /// The tenant: the store of the database that the address names.
    pub tenant: String,
    /// The version of the database server, such as `15.8`.
    pub server_version: String,
    /// The version of the store's tables. `null` if there are none.
    pub tables_version: Option<u64>,
    /// The version of the tables that this program reads and writes.
    pub program_version: u64,
    /// When the database answered, by its own clock.
    pub time: Timestamp,
    /// The time of this machine's clock minus that of the database's, in seconds.
    pub clock_difference_seconds: f64,
    /// How long the database took to answer, in seconds. The difference of the clocks is not known
    /// more exactly than half of it.
    pub round_trip_seconds: f64,
    /// Whether the server is a standby, which accepts no writes.
    pub standby: bool,
    /// How many seconds a standby is behind what it replicates. `null` if the server is none.
    pub replay_delay_seconds: Option<f64>,
    /// Whether the login sees the statistics of the whole server. A login that does not (it lacks
    /// the role `pg_read_all_stats`) sees no replicas, and only statements of its own.
    pub sees_statistics: bool,
    /// The servers and programs that replicate from this server.
    pub replicas: Vec<Replica>,
    /// The number of sessions of the tenant that are not deleted. `null` if the tables are those of
    /// another version, or if there are none.
    pub sessions: Option<u64>,
    /// The number of events that these sessions wrote. `null` like `sessions`.
    pub events: Option<u64>,
    /// The tenant's sessions in which a turn runs.
    pub leases: Vec<TierLease>,
    /// The sizes of the tables, of all tenants together, the largest first.
    pub tables: Vec<TableSize>,
    /// The number of connections to the databases of the server.
    pub connections: u64,
    /// The largest number of connections that the server accepts.
    pub max_connections: u64,
    /// How long the oldest transaction that writes has been running, in seconds: the feed of changes
    /// waits for it. `null` if the login may not see it.
    pub feed_delay_seconds: Option<f64>,
    /// The transactions of this database that have run for more than a second, the oldest first.
    pub running: Vec<RunningStatement>,
    /// The statements on the store's tables that took the most time in all. `null` if the database
    /// does not count them (it lacks the extension `pg_stat_statements`).
    pub statements: Option<Vec<StatementCost>>,
}

/// A server or program that replicates from a database server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replica {
    /// The name with which the replica connects.
    pub name: String,
    /// The state of the replication, such as `streaming`.
    pub state: String,
    /// Whether commits wait for the replica: `async`, `potential`, `sync` or `quorum`.
    pub sync_state: String,
    /// The number of bytes of the log that the replica has not replayed yet. `null` if it replays
    /// nothing, for example because it only receives the log.
    pub lag_bytes: Option<u64>,
    /// The seconds from a commit until the replica has replayed it, if it was measured recently.
    pub lag_seconds: Option<f64>,
}

/// A session of a store in a database in which a turn runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierLease {
    /// The session.
    pub session_id: SessionId,
    /// The program that runs the turn.
    pub owner: String,
    /// When the lease expires, unless its owner renews it.
    pub expires: Timestamp,
}

/// The size of a table of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableSize {
    /// The name of the table.
    pub table: String,
    /// The number of rows, as the database estimates it.
    pub rows: u64,
    /// The bytes on disk, with the indexes.
    pub bytes: u64,
}

/// A transaction that runs for long, with its last statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunningStatement {
    /// The process of the server that executes it.
    pub pid: i64,
    /// For how many seconds its transaction has run.
    pub seconds: f64,
    /// What it does, such as `active` or `idle in transaction`.
    pub state: String,
    /// What it waits for, such as `Lock`. `null` if it waits for nothing.
    pub waits_for: Option<String>,
    /// The beginning of the statement.
    pub statement: String,
}

/// What all executions of one statement took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatementCost {
    /// How often it was executed.
    pub calls: u64,
    /// The seconds that all executions took.
    pub total_seconds: f64,
    /// The seconds that one execution took on average.
    pub mean_seconds: f64,
    /// The seconds of the slowest execution.
    pub max_seconds: f64,
    /// The beginning of the statement, without its values.
    pub statement: String,
}
