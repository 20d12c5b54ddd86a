//! Commits whose wait for a standby is cancelled: they are on the primary, and nowhere else.

use std::thread::scope;

use forklore_conformance::scene::id;
use forklore_pgserver::Cluster;
use forklore_store::Store;

use crate::cluster;
use crate::writers::{append, log, open, root};

/// The backends that wait for a standby.
const WAITING: &str = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// Cancels the wait of the only commit that waits. Returns the number of its backend.
fn cancel(cluster: &Cluster) -> String {
    let primary = cluster.primary();
    cluster.wait(primary, &format!("SELECT count(*) = 1 {WAITING}")).unwrap();
    let pid = cluster.query(primary, &format!("SELECT pid {WAITING}")).unwrap();
    cluster.execute(primary, &format!("SELECT pg_cancel_backend({pid})")).unwrap();
    pid
}

#[test]
fn a_commit_that_no_standby_confirmed_is_not_acknowledged() {
    let mut cluster = cluster();
    let primary = cluster.primary();
    let store = open(&format!("{}?deadline=120", cluster.url()));
    root(&store, "a");
    root(&store, "b");
    let standbys: Vec<_> = cluster.standbys().collect();
    standbys.iter().for_each(|&standby| cluster.kill(standby).unwrap());

    // Without a head the store must not repeat it by itself, and says what is known.
    let failed = scope(|threads| {
        let appending = threads.spawn(|| store.append(&id("a"), append("x-1", None)));
        cancel(&cluster);
        appending.join().unwrap().err().unwrap().to_string()
    });
    assert!(failed.contains("wait for a standby was cancelled"), "{failed}");
    let both = [(0, "a-0".to_owned()), (1, "x-1".to_owned())];
    assert_eq!(log(&store, "a"), both);

    scope(|threads| {
        // After a head it is repeated, and the repetition waits for a standby too.
        let appending = threads.spawn(|| store.append(&id("b"), append("y-1", Some(0))));
        let pid = cancel(&cluster);
        let again = format!("SELECT count(*) = 1 {WAITING} AND pid <> {pid}");
        cluster.wait(primary, &again).unwrap();
        // So does a repetition by the caller.
        let repeating = threads.spawn(|| store.append(&id("a"), append("x-1", Some(0))));
        cluster.wait(primary, &format!("SELECT count(*) = 2 {WAITING}")).unwrap();
        assert!(!appending.is_finished() && !repeating.is_finished());
        cluster.rejoin(standbys[0]).unwrap();
        assert!(appending.join().unwrap().unwrap().repeated);
        assert!(repeating.join().unwrap().unwrap().repeated);
    });
    assert_eq!(log(&store, "a"), both);
    assert_eq!(log(&store, "b"), [(0, "b-0".to_owned()), (1, "y-1".to_owned())]);
}
