//! The tier of docs/tier.md, with Patroni and etcd: made by the commands of the page.

use std::time::Instant;

use forklore_pgserver::Tier;

use crate::writers::Writers;

/// The page with the commands.
const PAGE: &str = include_str!("../../../../docs/tier.md");

pub(crate) fn tier() -> Tier {
    Tier::start(PAGE).unwrap_or_else(|none| panic!("{none}"))
}

/// Waits until another node than `before` is the leader. Returns its name.
fn other_leader(tier: &Tier, before: &str) -> String {
    let mut leader = None;
    let other = |name: &String| name != before;
    tier.wait("another leader", || {
        leader = tier.leader().unwrap_or_default().filter(other);
        Ok(leader.is_some())
    })
    .unwrap_or_else(|none| panic!("{none}"));
    leader.unwrap()
}

#[test]
fn a_tier_from_the_page_survives_the_kill_of_its_leader() {
    let tier = tier();
    let direct = Writers::start(&tier.url().unwrap());
    let pooled = Writers::start(&format!("{}&tenant=pooled", tier.pooled().unwrap()));
    let wait_for = |number| [&direct, &pooled].map(|writers| writers.wait_for(number));
    wait_for(100);

    let killed = tier.leader().unwrap().unwrap();
    let begun = Instant::now();
    tier.kill(&killed).unwrap();
    direct.wait_for(1);
    let gap = begun.elapsed();
    let leader = other_leader(&tier, &killed);
    wait_for(100);

    tier.restart(&killed).unwrap();
    tier.wait_for_standbys(2).unwrap();
    wait_for(100);
    println!("{killed} killed, {leader} leads, next acknowledged after {gap:?}");
    for (name, writers) in [("direct", direct), ("pooled", pooled)] {
        let errors = writers.errors();
        println!("{name}: {} acknowledged, errors: {errors:?}", writers.end());
    }
}

#[test]
fn a_leader_whose_patroni_hangs_acknowledges_nothing_that_is_lost() {
    let tier = tier();
    let writers = Writers::start(&tier.url().unwrap());
    writers.wait_for(100);
    // Its PostgreSQL accepts connections all the time, and no standby confirms its commits any more.
    let frozen = tier.leader().unwrap().unwrap();
    tier.freeze(&frozen, true).unwrap();
    let leader = other_leader(&tier, &frozen);
    tier.freeze(&frozen, false).unwrap();
    tier.wait_for_standbys(2).unwrap();
    writers.wait_for(100);
    let errors = writers.errors();
    println!("{frozen} frozen, {leader} leads, {} in all, errors: {errors:?}", writers.end());
}
