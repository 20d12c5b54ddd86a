//! Which of the servers in a URL is used.

use forklore_conformance::scene::id;
use forklore_postgres::PostgresStore;
use forklore_store::{Error, Store};

use crate::cluster;
use crate::writers::{append, log, open, root};

#[test]
fn of_several_hosts_the_one_that_can_be_written_to_is_used() {
    let cluster = cluster();
    let standby = cluster.standbys().next().unwrap();
    let alone = cluster.url_of(standby).unwrap();
    // Nothing can be created there.
    let refused = PostgresStore::open(alone.parse().unwrap()).err().unwrap();
    expect_advice(&refused);

    let hosts: Vec<_> = cluster.standbys().chain([cluster.primary()]).collect();
    let hosts = hosts.iter().map(|&node| cluster.url_of(node).unwrap());
    let hosts: Vec<_> = hosts.map(|url| url.split(['@', '/']).nth(3).unwrap().to_owned()).collect();
    let all = format!("postgres://postgres@{}/postgres", hosts.join(","));
    let store = open(&all);
    root(&store, "a");
    let done = store.append(&id("a"), append("x-1", Some(0))).unwrap();
    assert_eq!(done.head_seq, 1);

    // A standby may be read, and says of a write what to do.
    cluster.wait(standby, "SELECT to_regclass('forklore.event') IS NOT NULL").unwrap();
    cluster.wait(standby, "SELECT EXISTS (SELECT FROM forklore.event WHERE id = 'x-1')").unwrap();
    let store = PostgresStore::open_existing(alone.parse().unwrap()).unwrap();
    assert_eq!(log(&store, "a"), [(0, "a-0".to_owned()), (1, "x-1".to_owned())]);
    let refused = store.append(&id("a"), append("x-2", Some(1))).err().unwrap();
    expect_advice(&refused);
}

fn expect_advice(refused: &Error) {
    assert!(matches!(refused, Error::Denied(_)), "{refused:?}");
    let text = refused.to_string();
    assert!(text.contains("is a standby") && text.contains("name all servers"), "{text}");
}
