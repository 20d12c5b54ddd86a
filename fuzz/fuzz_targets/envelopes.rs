//! Fuzzes event lines. An event with any type and payload must be refused, or be printed as one
//! line of valid JSON that contains the payload unchanged.
#![no_main]

use forklore::engine::{Batch, Create, LogRange, NewEvent};
use forklore::core::workspace::Workspace;
use forklore::core::{Data, EventType};
use forklore_fuzz::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let Ok(kind) = input.text().parse::<EventType>() else { return };
    let Ok(text) = std::str::from_utf8(input.0) else { return };
    let Ok(data) = Data::parse(text) else { return };
    let engine = forklore_fuzz::engine();
    let session = engine.create(&Create::in_workspace(Workspace::new("/fuzz"))).expect("a root");
    let event = NewEvent::new(kind, data.clone());
    if engine.append(&session.id, &Batch::from(vec![event])).is_err() {
        return;
    }
    let mut out = Vec::new();
    engine.log(&session.id, LogRange::default(), &mut out).expect("a log");
    let line = std::str::from_utf8(&out).expect("UTF-8");
    assert_eq!(line.matches('\n').count(), 1, "{line:?}");
    let written = format!(",\"data\":{}}}\n", data.get());
    assert!(line.ends_with(&written), "{line:?}");
    assert!(Data::parse(line).is_ok(), "{line:?}");
    let replayed: Vec<_> = engine.replay(&session.id, None).expect("a replay").collect();
    assert!(replayed.iter().all(Result::is_ok));
});
