//! Servers that end connections and statements under load.

use std::time::Duration;

use crate::cluster;
use crate::writers::Writers;

/// How many connections are ended.
const ENDED: usize = 60;
/// How often a process of the server is killed.
const CRASHES: usize = 3;

#[test]
fn whatever_a_server_ends_is_repeated_without_harm() {
    let mut cluster = cluster();
    let primary = cluster.primary();
    let writers = Writers::start(&cluster.url());
    writers.wait_for(50);

    let connected = "FROM pg_stat_activity WHERE application_name = 'forklore'";
    let one = format!("(SELECT pid {connected} ORDER BY random() LIMIT 1) a");
    let end_one = format!("SELECT count(*) FROM {one} WHERE pg_terminate_backend(pid)");
    for _ in 0..ENDED {
        // One that is ending already does not count.
        while cluster.query(primary, &end_one).unwrap() != "1" {}
        writers.wait_for(1);
    }
    assert_eq!(writers.errors().len(), 0, "{:?}", writers.errors());

    // Some statements take longer than this, above all those that wait for a lock.
    for setting in ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"] {
        let change = |value: &str| {
            let sql = format!("ALTER SYSTEM SET {setting} = '{value}'");
            cluster.execute(primary, &sql).unwrap();
            cluster.execute(primary, "SELECT pg_reload_conf()").unwrap();
        };
        let mut milliseconds = 4;
        change("4ms");
        // On a slow machine, every statement takes longer.
        while !writers.wait_at_most(Duration::from_secs(10), 40) {
            milliseconds *= 2;
            change(&format!("{milliseconds}ms"));
        }
        change("0");
    }
    writers.wait_for(20);

    // After the end of one of its processes, a server ends all of them and repairs its files.
    for _ in 0..CRASHES {
        cluster.kill_backend(primary).unwrap();
        writers.wait_for(50);
    }
    cluster.restart(primary).unwrap();
    writers.wait_for(100);
    let errors = writers.errors();
    for error in errors.keys() {
        let is_clear = error.contains("SQLSTATE 57014") || error.contains("SQLSTATE 55P03");
        assert!(is_clear || error.contains("it is not known whether"), "{error}");
    }
    println!("{} appends acknowledged, errors: {errors:?}", writers.end());
}
