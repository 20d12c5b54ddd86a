//! The state of the store and of its server, for the people who operate them.

use std::time::Instant;

use forklore_core::tier::{Replica, RunningStatement, TableSize, TierLease, TierStatus};
use forklore_store::{Error, Result as StoreResult};
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::Row;

use crate::address::Address;
use crate::connection::{Connection, text};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::unsigned;
use crate::session::{COLUMNS, Session};
use crate::shared::Shared;
use crate::store::without_database;
use crate::{costs, maintenance, schema};

/// The server itself, as every login sees it, and whether the login sees the statistics.
const SERVER: &str = "SELECT current_setting('server_version'), pg_is_in_recovery(),
    CASE WHEN NOT pg_is_in_recovery() THEN NULL
         WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
         ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8,
    pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
    (SELECT coalesce(sum(numbackends), 0) FROM pg_stat_database)::int8,
    current_setting('max_connections')::int8,
    (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - begun)), 0) FROM (
       SELECT xact_start FROM pg_stat_activity
       WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
       UNION ALL SELECT prepared FROM pg_prepared_xacts) AS t (begun))::float8";

/// What replicates from the server. A program that only receives the log has replayed nothing.
const REPLICAS: &str = "SELECT application_name, coalesce(state, ''), coalesce(sync_state, ''),
    greatest(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()
                                  ELSE pg_current_wal_lsn() END, replay_lsn), 0)::int8,
    extract(epoch FROM replay_lag)::float8, replay_lsn IS NULL
    FROM pg_stat_replication ORDER BY application_name, pid";

/// The tables, each with its partitions. The size of a table that is not analyzed yet is -1 rows.
const TABLES: &str = "SELECT t.relname::text,
    sum(greatest(coalesce(p.reltuples, t.reltuples), 0))::int8,
    sum(pg_total_relation_size(coalesce(p.oid, t.oid)))::int8
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
    LEFT JOIN pg_inherits i ON i.inhparent = t.oid LEFT JOIN pg_class p ON p.oid = i.inhrelid
    WHERE n.nspname = 'forklore' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
    GROUP BY t.relname ORDER BY 3 DESC, 1";

/// Another login's transactions have no start unless the login sees the statistics.
const RUNNING: &str = "SELECT pid::int8,
    extract(epoch FROM clock_timestamp() - xact_start)::float8, coalesce(state, ''),
    wait_event_type, left(regexp_replace(query, '\\s+', ' ', 'g'), 200)
    FROM pg_stat_activity
    WHERE xact_start < clock_timestamp() - interval '1 second' AND pid <> pg_backend_pid()
      AND datname = current_database() AND backend_type = 'client backend'
    ORDER BY xact_start LIMIT 20";

/// The living sessions, and the events that they wrote themselves.
const STORE: &str = "SELECT count(*), coalesce(sum(head + 1 - inherited), 0)::int8
    FROM forklore.session WHERE tenant = $1 AND state = 0";

/// Sessions that have a lease, among some whose text only looks like it.
const LEASED: &str = "s.tenant = $1 AND s.state = 0 AND s.header LIKE '%\"lease\":{%'";

/// Returns the state of the store at this address and of its server, also if the tables are those of
/// another version or if there are none. Writes nothing.
///
/// # Errors
/// `Denied` if the database refuses the login, or if the login is not given the tenant; `Invalid`
/// if the server has no such database; `Io` if the server cannot be reached.
pub fn status(address: Address) -> StoreResult<TierStatus> {
    let location = address.to_string();
    let failed = |fault: Fault| fault.into_error("reading the state of", &location);
    let shared = Shared::new(address).map_err(failed)?;
    let status = shared.read("reading the state of", |connection| {
        of(Database { connection, tenant: shared.tenant() }, &location)
    });
    match status {
        Err(Error::StoreGone { .. }) => Err(without_database(&location)),
        status => status,
    }
}

fn of(database: Database<'_>, location: &str) -> Result<TierStatus> {
    let Database { connection, tenant } = database;
    // The first statement also pays for what a new connection has to load.
    let server = connection.row(SERVER, &[])?.ok_or_else(|| {
        Fault::from(Error::io(format!("reading the state of {location}"), "it has no answer"))
    })?;
    let (time, difference, trip) = clock(connection)?;
    let version = schema::version(connection)?;
    let is_current = version == Some(schema::VERSION);
    let (mut sessions, mut events, mut leases) = (None, None, Vec::new());
    if is_current {
        // Refuses a login that another tenant has, which would see no session.
        schema::find(connection, tenant)?;
        if let Some(row) = connection.row(STORE, &[text(&tenant)])? {
            sessions = Some(unsigned(row.try_get(0)?));
            events = Some(unsigned(row.try_get(1)?));
        }
        leases = self::leases(database, time)?;
    }
    let sees_statistics: bool = server.try_get(3)?;
    let delay: f64 = server.try_get(6)?;
    Ok(TierStatus {
        store: location.to_owned(),
        tenant: tenant.to_owned(),
        server_version: server.try_get(0)?,
        tables_version: version.map(unsigned),
        program_version: unsigned(schema::VERSION),
        time,
        clock_difference_seconds: difference,
        round_trip_seconds: trip,
        standby: server.try_get(1)?,
        replay_delay_seconds: server.try_get(2)?,
        sees_statistics,
        replicas: if sees_statistics { rows(connection, REPLICAS, replica)? } else { Vec::new() },
        sessions,
        events,
        leases,
        tables: rows(connection, TABLES, table)?,
        connections: unsigned(server.try_get(4)?),
        max_connections: unsigned(server.try_get(5)?),
        feed_delay_seconds: sees_statistics.then_some(delay),
        running: rows(connection, RUNNING, running)?,
        statements: costs::of(connection)?,
    })
}

/// Returns the time of the server's clock, the time of this machine's minus it, and the time that the
/// answer took, both in seconds. The server is assumed to look at its clock halfway.
fn clock(connection: &Connection) -> Result<(Timestamp, f64, f64)> {
    let (before, begun) = (Timestamp::now(), Instant::now());
    let time = maintenance::now(connection)?;
    let trip = begun.elapsed().as_secs_f64();
    let ours = before.duration_since(time) + SignedDuration::from_secs_f64(trip / 2.0);
    Ok((time, ours.as_secs_f64(), trip))
}

fn rows<T>(connection: &Connection, sql: &str, read: fn(&Row) -> Result<T>) -> Result<Vec<T>> {
    connection.rows(sql, &[])?.iter().map(read).collect()
}

fn replica(row: &Row) -> Result<Replica> {
    let (lag, replays_nothing): (Option<i64>, bool) = (row.try_get(3)?, row.try_get(5)?);
    let delay: Option<f64> = row.try_get(4)?;
    Ok(Replica {
        name: row.try_get(0)?,
        state: row.try_get(1)?,
        sync_state: row.try_get(2)?,
        lag_bytes: lag.filter(|_| !replays_nothing).map(unsigned),
        lag_seconds: delay.filter(|_| !replays_nothing),
    })
}

fn table(row: &Row) -> Result<TableSize> {
    let (rows, bytes) = (unsigned(row.try_get(1)?), unsigned(row.try_get(2)?));
    Ok(TableSize { table: row.try_get(0)?, rows, bytes })
}

fn running(row: &Row) -> Result<RunningStatement> {
    Ok(RunningStatement {
        pid: row.try_get(0)?,
        seconds: row.try_get(1)?,
        state: row.try_get(2)?,
        waits_for: row.try_get(3)?,
        statement: row.try_get(4)?,
    })
}

/// Returns the leases that are valid at `now`. Sessions whose rows are damaged are left out: `verify`
/// names them.
fn leases(database: Database<'_>, now: Timestamp) -> Result<Vec<TierLease>> {
    let Database { connection, tenant } = database;
    let sql = format!("SELECT {COLUMNS} FROM forklore.session s WHERE {LEASED} ORDER BY s.id");
    let found = connection.rows(&sql, &[text(&tenant)])?;
    let sound = found.iter().filter_map(|row| Session::of(row).ok());
    let leases = sound.filter_map(|session| {
        let lease = session.header.leased_by_other(None, now)?.clone();
        let session_id = session.header.id;
        Some(TierLease { session_id, owner: lease.owner, expires: lease.expires })
    });
    Ok(leases.collect())
}
