//! Tests that a history has the same running counts, however it is split into parts.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use forklore_core::{
    CallStep, Class, Counts, Data, Effect, Event, EventId, OpenCall, OpenCalls, SessionId,
};
use jiff::Timestamp;
use proptest::prelude::*;

fn call() -> impl Strategy<Value = CallStep> {
    (0..4u8, any::<bool>()).prop_map(|(number, open)| {
        let id = format!("c{number}");
        if open { CallStep::Open(OpenCall { id, name: "ls".into() }) } else { CallStep::Close(id) }
    })
}

fn event() -> impl Strategy<Value = Event> {
    let class = prop::sample::select(Class::ALL.to_vec());
    let calls = prop::collection::vec(call(), 0..4);
    (class, any::<bool>(), calls, 0..50usize).prop_map(|(class, starts_turn, calls, bytes)| Event {
        id: EventId::derived(&"s".parse::<SessionId>().unwrap(), 0),
        ts: Timestamp::UNIX_EPOCH,
        kind: "x.any".parse().unwrap(),
        class,
        dialect: None,
        // Only conversation events can open or close calls and start turns.
        effect: if class.is_conversation() {
            Effect { starts_turn, calls }
        } else {
            Effect::default()
        },
        data: Data::of(&"x".repeat(bytes)).unwrap(),
    })
}

fn log() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 0..40)
}

/// Returns the running counts after each of the events.
fn running(events: &[Event]) -> Vec<Counts> {
    let mut open = OpenCalls::default();
    let mut counts = Counts::default();
    let step = |event: &Event| {
        open.step(&event.effect);
        counts = counts.after(event, &open);
        counts
    };
    events.iter().map(step).collect()
}

fn last(events: &[Event]) -> Counts {
    running(events).pop().unwrap_or_default()
}

proptest! {
    #[test]
    fn they_count_what_they_say(events in log()) {
        let counts = last(&events);
        let number = |of: &dyn Fn(&Event) -> bool| events.iter().filter(|event| of(event)).count() as u64;
        prop_assert_eq!(counts.inheritable, number(&|event| event.class.is_inherited()));
        prop_assert_eq!(counts.index, number(&|event| event.class == Class::Conversation));
        prop_assert_eq!(counts.turns, number(&|event| event.effect.starts_turn));
        let stored = events.iter().filter(|event| event.class.is_inherited());
        prop_assert_eq!(counts.bytes, stored.map(|event| event.data.get().len() as u64).sum::<u64>());
    }

    #[test]
    fn they_never_fall(events in log()) {
        for pair in running(&events).windows(2) {
            let (a, b) = (pair[0], pair[1]);
            prop_assert!(a.inheritable <= b.inheritable && a.index <= b.index && a.turns <= b.turns && a.bytes <= b.bytes);
            prop_assert!(b.index <= b.inheritable && b.turns <= b.index);
        }
    }

    #[test]
    fn events_that_are_not_inherited_do_not_count(events in log()) {
        let inherited: Vec<_> = events.iter().filter(|event| event.class.is_inherited()).cloned().collect();
        prop_assert_eq!(last(&events), last(&inherited));
    }

    #[test]
    fn a_part_counted_alone_adds_up(events in log(), at in 0..40usize) {
        let (before, behind) = events.split_at(at.min(events.len()));
        let sum = last(behind).based_on(last(before));
        let whole = last(&events);
        prop_assert_eq!(Counts { open: 0, ..sum }, Counts { open: 0, ..whole });
    }

    #[test]
    fn open_calls_are_those_not_answered_since_the_last_turn(events in log()) {
        let mut open = OpenCalls::default();
        let mut want: Vec<String> = Vec::new();
        for event in &events {
            open.step(&event.effect);
            if event.effect.starts_turn {
                want.clear();
            }
            for step in &event.effect.calls {
                let (CallStep::Open(OpenCall { id, .. }) | CallStep::Close(id)) = step;
                let there = want.contains(id);
                match step {
                    CallStep::Open(_) if !there => want.push(id.clone()),
                    CallStep::Close(_) => want.retain(|open| open != id),
                    CallStep::Open(_) => {}
                }
            }
            let ids: Vec<_> = open.calls().map(|call| call.id.clone()).collect();
            prop_assert_eq!(&ids, &want);
            prop_assert_eq!((open.len(), open.is_empty()), (want.len() as u64, want.is_empty()));
        }
        prop_assert_eq!(last(&events).open, open.len());
    }
}
