//! Backup and point-in-time recovery as docs/tier.md describes them.

use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::Handle;
use forklore_conformance::scene::{Scene, id};
use forklore_pgserver::Tier;
use forklore_postgres::PostgresStore;
use forklore_store::port::Since;
use forklore_store::{Error, Store};

use crate::patroni::tier;
use crate::writers::{append, log, open, root};

/// A statement on the primary of the page, as its superuser.
fn on_primary(tier: &Tier, sql: &str) -> String {
    let hosts = "host=127.0.0.11,127.0.0.12,127.0.0.13 port=5432";
    let command = format!(
        "PGPASSWORD=$PATRONI_SUPERUSER_PASSWORD psql --quiet --tuples-only --no-align \
         '{hosts} user=postgres dbname=team target_session_attrs=read-write' -c \"{sql}\""
    );
    tier.execute(&command).unwrap_or_else(|none| panic!("{none}")).trim().to_owned()
}

/// Follows the page back to a moment. Returns the URL of the recovered store.
fn go_back(tier: &Tier, time: &str) -> String {
    let segment = on_primary(tier, "SELECT pg_walfile_name(pg_switch_wal())");
    let archived = format!("if [ -e archive/{segment} ]; then echo yes; fi");
    let is = |command: &str| Ok(tier.execute(command)?.trim() == "yes");
    tier.wait("archived its log", || is(&archived)).unwrap();
    tier.follow("Go back", &format!("TIME='{time}'")).unwrap();
    let recovered = "if grep -q 'ready to accept connections' recovered.log; then echo yes; fi; cat recovered.log >&2";
    tier.wait("recovered", || is(recovered)).unwrap();
    tier.with_password("postgres://forklore@127.0.0.14:5433/team").unwrap()
}

#[test]
fn a_tier_goes_back_to_a_moment() {
    let tier = tier();
    let store = open(&tier.url().unwrap());
    root(&store, "a");
    tier.follow("Back up", "").unwrap();
    store.append(&id("a"), append("a-1", Some(0))).unwrap();
    let mark = |store: &PostgresStore| {
        Since::Mark(store.changes(&Since::Now, 10, Duration::ZERO).unwrap().mark)
    };
    let before = mark(&store);
    let time = on_primary(&tier, "SELECT clock_timestamp()");
    root(&store, "b");
    let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
    Scene::new(&factory).delete("a");
    let behind = mark(&store);

    let url = go_back(&tier, &time);
    let recovered = open(&url);
    assert_eq!(log(&recovered, "a"), [(0, "a-0".to_owned()), (1, "a-1".to_owned())]);
    assert!(matches!(recovered.header(&id("b")), Err(Error::NotFound(_))));
    assert_eq!(recovered.verify(None).unwrap().problems, []);

    // A reader from behind the moment is refused; one from before it goes on.
    let changes = |store: &PostgresStore, since: &Since| store.changes(since, 10, Duration::ZERO);
    assert_eq!(changes(&recovered, &before).unwrap().sessions, []);
    let refused = changes(&recovered, &behind).err().unwrap();
    assert!(matches!(refused, Error::MarkExpired { .. }), "{refused:?}");
    // Until the new history has passed its mark: then it would miss this session.
    root(&recovered, "missed");
    for number in 0.. {
        if changes(&recovered, &behind).is_ok() {
            break;
        }
        root(&recovered, &format!("c{number}"));
    }
    let seen = changes(&recovered, &behind).unwrap().sessions;
    assert!(seen.iter().all(|change| change.session != id("missed")), "{seen:?}");

    // With another id of the store, every reader begins anew.
    tier.follow("Begin another history", "").unwrap();
    let gone = changes(&recovered, &Since::Beginning).err().unwrap();
    assert!(matches!(gone, Error::StoreGone { .. }), "{gone:?}");
    let recovered = open(&url);
    for old in [&before, &behind] {
        let refused = changes(&recovered, old).err().unwrap();
        assert!(matches!(refused, Error::ForeignMark(_)), "{refused:?}");
    }
    let all = changes(&recovered, &Since::Beginning).unwrap().sessions;
    assert!(all.iter().any(|change| change.session == id("missed")), "{all:?}");

    // The tier went on meanwhile, with its marks.
    assert_eq!(changes(&store, &behind).unwrap().sessions, []);
    assert_eq!(log(&store, "b"), [(0, "b-0".to_owned())]);
}
