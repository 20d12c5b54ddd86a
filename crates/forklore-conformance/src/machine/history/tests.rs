//! Tests that a random history finds the order in which the store executed two concurrent calls.

use forklore_store::memory::MemoryStore;

use super::History;
use crate::factory::Handle;
use crate::machine::step::{Expect, Say, Step};

/// Returns a step that takes a lease. With an even `millis` the lease outlasts the test, with an
/// odd one it expires at once.
fn hold(millis: u8) -> Step {
    Step::Hold { session: 1, owner: 2, millis }
}

/// Executes two steps one after the other, but checks them as if they were concurrent. Then appends
/// as a writer without a lease: the store must refuse this append if and only if the two steps left
/// a lease that is still valid.
fn follow(one: &Step, two: &Step, one_first: bool) -> Result<(), String> {
    let factory = || Handle::new(MemoryStore::default());
    let mut history = History::new(&factory)?;
    let (one, two) = (history.call(one).expect("a call"), history.call(two).expect("a call"));
    let store = history.scene.store();
    let answers = if one_first {
        (one.make(store), two.make(store))
    } else {
        let second = two.make(store);
        (one.make(store), second)
    };
    history.agree_with_an_order(&one, &two, &answers)?;
    let events = vec![Say::User];
    history.take(&Step::Append { session: 1, events, expect: Expect::Absent, owner: None })?;
    history.finish()
}

#[test]
fn the_later_of_two_leases_of_one_owner_decides() {
    let (long, expired) = (hold(0), hold(1));
    for (one, two) in [(&long, &expired), (&expired, &long)] {
        for one_first in [true, false] {
            let followed = follow(one, two, one_first);
            assert_eq!(followed, Ok(()), "{one:?} and {two:?}, in this order: {one_first}");
        }
    }
}
