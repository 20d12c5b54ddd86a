//! Property tests of the rules, with headers and appends of different sizes.

use forklore_core::Usage;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Counts, Data, Effect, Event, EventType, Header, Label, Lease, SessionId, SessionKind,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::port::{Append, Children};

fn header(own_events: u64) -> Header {
    let new = NewSession {
        id: "a".parse().unwrap(),
        kind: SessionKind::Root,
        label: Label::main(),
        title: None,
        workspace: Workspace::new("/w"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: None,
        source: None,
        copy_of: None,
        created: Timestamp::UNIX_EPOCH,
        from: None,
        events: Vec::new(),
        usage: Usage::default(),
    };
    Header { own_events, ..new.header(None, Counts::default(), Timestamp::UNIX_EPOCH) }
}

fn append(events: usize, expect: Option<i64>) -> Append {
    let event = |number: usize| Event {
        id: format!("e{number}").parse().unwrap(),
        ts: Timestamp::UNIX_EPOCH,
        kind: EventType::USER_MESSAGE,
        class: EventType::USER_MESSAGE.class(),
        dialect: None,
        effect: Effect { starts_turn: true, calls: Vec::new() },
        data: Data::null(),
    };
    let events = (0..events).map(event).collect();
    let (usage, now) = (Usage::default(), Timestamp::UNIX_EPOCH);
    Append { events, expect, owner: None, usage, now }
}

proptest! {
    #[test]
    fn an_append_counts_as_a_repetition_only_before_the_head(
        own in 0..50_u64, events in 1..9_usize, expect in -3..60_i64,
    ) {
        let (header, append) = (header(own), append(events, Some(expect)));
        let seqs = repeated_seqs(&header, &append).unwrap();
        let fits = expect >= -1 && expect + events as i64 <= header.head_seq();
        prop_assert_eq!(seqs.is_some(), fits);
        if let Some(seqs) = seqs {
            prop_assert_eq!(seqs.clone().count(), events);
            let same = append.events.iter().map(|event| &event.id);
            prop_assert!(repetition(&header, &append, &seqs, same).unwrap().repeated);
            let fewer = append.events.iter().skip(1).map(|event| &event.id);
            prop_assert_eq!(repetition(&header, &append, &seqs, fewer), None);
        }
    }

    #[test]
    fn an_expected_head_is_the_head_or_a_conflict(own in 0..50_u64, expect in -3..60_i64) {
        let header = header(own);
        let checked = check_append(&header, &append(1, Some(expect)), Timestamp::UNIX_EPOCH);
        prop_assert_eq!(checked.is_ok(), expect == header.head_seq());
        prop_assert!(check_append(&header, &append(1, None), Timestamp::UNIX_EPOCH).is_ok());
    }

    #[test]
    fn one_runtime_at_a_time_holds_a_session(
        ends in -200_000..200_000_i64, lasts in 0..400_000_i64, mine: bool,
    ) {
        let now = Timestamp::UNIX_EPOCH;
        let owner = if mine { "me" } else { "other" };
        let expires = now + SignedDuration::from_secs(ends);
        let lease = Lease { owner: owner.into(), expires, began_at: 3 };
        let leased = Header { lease: Some(lease), ..header(9) };
        let holds = ends > 0 && SignedDuration::from_secs(ends) <= LONGEST_LEASE;
        let lasts = SignedDuration::from_secs(lasts);
        match take_lease(&leased, "me", lasts, now) {
            Ok(accepted) => {
                prop_assert!(mine || !holds);
                prop_assert_eq!(accepted.began_at, if holds { 3 } else { leased.head_seq() });
                prop_assert_eq!(accepted.expires, now + lasts.min(LONGEST_LEASE));
            }
            Err(_) => prop_assert!(holds && !mine),
        }
        prop_assert_eq!(check_writer(&leased, None, now).is_err(), holds);
        prop_assert_eq!(check_writer(&leased, Some("me"), now).is_ok(), holds && mine);
    }

    #[test]
    fn a_refusal_names_the_first_children_and_counts_all(count in 0..60_usize, retain: bool) {
        let left: Vec<SessionId> = (0..count).map(|n| format!("c{n}").parse().unwrap()).collect();
        let children = if retain { Children::Retain } else { Children::Refuse };
        match refuse_children(&header(1), children, left.clone()) {
            Ok(()) => prop_assert!(retain || count == 0),
            Err(Error::HasChildren { children, count: reported, .. }) => {
                prop_assert_eq!((reported, children.len()), (count, count.min(20)));
                prop_assert_eq!(&children[..], &left[..count.min(20)]);
            }
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }
}
