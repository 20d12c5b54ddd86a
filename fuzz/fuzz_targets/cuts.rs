//! Fuzzes selectors. A text must be refused, or parse to a selector that has the same meaning after
//! it is formatted and parsed again. A fork at the selector must succeed or be refused with
//! `invalid_args`.
#![no_main]

use std::cell::RefCell;

use forklore::Engine;
use forklore::engine::{Batch, Create, Fork, NewEvent};
use forklore::core::workspace::Workspace;
use forklore::core::{ErrorKind, Selector, SessionId};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SCENE: RefCell<Option<(Engine, SessionId)>> = const { RefCell::new(None) };
}

fn scene() -> (Engine, SessionId) {
    let engine = forklore_fuzz::engine();
    let create = Create::in_workspace(Workspace::new("/fuzz"));
    let id = engine.create(&create).expect("a session").id;
    for turn in 0..4 {
        let question = NewEvent::user(&format!("question {turn}")).expect("an event");
        let answered = NewEvent::assistant("answer").expect("an event");
        engine.append(&id, &Batch::from(vec![question, answered])).expect("an append");
    }
    (engine, id)
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(selector) = text.parse::<Selector>() else { return };
    let written = selector.to_string();
    assert_eq!(written.parse::<Selector>().ok().as_ref(), Some(&selector), "{written}");
    SCENE.with(|scene_cell| {
        let mut scene_cell = scene_cell.borrow_mut();
        let (engine, id) = scene_cell.get_or_insert_with(scene);
        let fork = Fork { dry_run: true, ..Fork::of(id.clone()).at(selector) };
        match engine.fork(&fork) {
            Ok(forked) => assert!(forked.cut.index <= 8 && forked.dry_run),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{error}"),
        }
    });
});
