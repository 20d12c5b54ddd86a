//! Fuzzes `diff` on families of random forks and appends. Both directions of a comparison must
//! agree, and the common events and those of one side alone must together be that side's history.
#![no_main]

use forklore::engine::{Batch, Create, Fork, NewEvent};
use forklore::core::workspace::Workspace;
use forklore::core::{Selector, SessionId};
use forklore_fuzz::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let engine = forklore_fuzz::engine();
    let mut sessions: Vec<SessionId> = Vec::new();
    while !input.is_empty() && sessions.len() < 12 {
        let which = usize::from(input.byte());
        let chosen = sessions.get(which % sessions.len().max(1)).cloned();
        match (input.byte() % 3, chosen) {
            (0, Some(parent)) => {
                let index = u64::from(input.byte() % 16);
                let at = format!("index:{index}").parse::<Selector>().expect("a selector");
                if let Ok(forked) = engine.fork(&Fork::of(parent).at(at)) {
                    sessions.push(forked.child_session_id);
                }
            }
            (1, _) => {
                let create = Create::in_workspace(Workspace::new("/fuzz"));
                sessions.push(engine.create(&create).expect("a root").id);
            }
            (_, Some(session)) => {
                let event = NewEvent::user(&input.text()).expect("an event");
                engine.append(&session, &Batch::from(vec![event])).expect("an append");
            }
            (_, None) => {}
        }
    }
    for a in &sessions {
        for b in &sessions {
            let (there, back) =
                (engine.diff(a, b).expect("a diff"), engine.diff(b, a).expect("a diff"));
            assert_eq!((there.common, &there.ancestor), (back.common, &back.ancestor));
            assert_eq!((&there.only_a, &there.only_b), (&back.only_b, &back.only_a));
            let whole = engine.show(a).expect("a header").counts.index;
            assert_eq!(there.common + there.only_a.len() as u64, whole);
            assert!(a != b || there.only_a.is_empty() && there.only_b.is_empty());
        }
    }
});
