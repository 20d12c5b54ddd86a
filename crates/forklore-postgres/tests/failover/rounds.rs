//! Rounds in which the primary is killed and a standby takes over.

use std::time::{Duration, Instant};

use crate::cluster;
use crate::writers::Writers;

/// The environment variable with the number of rounds.
const ROUNDS: &str = "FORKLORE_FAILOVERS";

#[test]
fn kill_of_the_primary_loses_and_doubles_nothing() {
    let rounds = std::env::var(ROUNDS).map_or(2, |rounds| rounds.parse::<u32>().unwrap());
    let mut cluster = cluster();
    let writers = Writers::start(&cluster.url());
    let mut gaps: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        writers.wait_for(100);
        let killed = cluster.primary();
        let begun = Instant::now();
        cluster.kill(killed).unwrap();
        let gap = std::thread::scope(|threads| {
            let next = threads.spawn(|| {
                writers.wait_for(1);
                begun.elapsed()
            });
            cluster.promote().unwrap();
            next.join().unwrap()
        });
        assert_ne!(cluster.primary(), killed);
        gaps.push(gap);
        writers.wait_for(50);
        cluster.rejoin(killed).unwrap();
    }
    writers.wait_for(100);
    let errors = writers.errors();
    let acknowledged = writers.end();
    gaps.sort();
    println!(
        "{rounds} kills of the primary, {acknowledged} appends acknowledged, next acknowledged \
         after {:?} (median), {:?} (longest); errors: {errors:?}",
        gaps[gaps.len() / 2],
        gaps[gaps.len() - 1]
    );
}
