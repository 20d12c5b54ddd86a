//! Prints how long verbs take without a binding: in microseconds, the median of rounds. The benchmarks
//! of the packages for Python and TypeScript subtract it from what a call takes there.
#![allow(clippy::print_stdout, reason = "this program answers a benchmark")]

use std::error::Error;
use std::time::Instant;

use forklore_api::{Create, NewEvent};
use forklore_bindings::Connection;
use forklore_core::workspace::Workspace;

const ROUNDS: usize = 9;
const CALLS: u32 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let store = Connection::open(Some("memory:"))?;
    let engine = store.engine()?;
    let id = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
    let show = median(|| engine.show(&id).map(drop))?;
    let request = format!(r#"{{"show":{{"session_id":"{id}"}}}}"#);
    let call = median(|| store.call(&request).map(drop))?;
    let batch = NewEvent::user("plan A or plan B?")?.into();
    let append = median(|| engine.append(&id, &batch).map(drop))?;
    println!(r#"{{"show": {show:.3}, "show_json": {call:.3}, "append": {append:.3}}}"#);
    Ok(())
}

/// Returns the median time of a call in microseconds.
fn median<E>(mut call: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        rounds.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds.get(ROUNDS / 2).copied().unwrap_or_default())
}
