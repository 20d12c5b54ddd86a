//! Measures the memory that the program needs for a session that exceeds the memory of most
//! machines.

use forklore::prelude::*;

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::process::Program;
use crate::samples::Samples;
use crate::scene::Scene;
use crate::thousands::grouped;

/// The number of runs of each command. The memory of a command is sampled while it runs, and a
/// single run can end before the first sample.
const ROUNDS: usize = 15;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let [_, events] = scene.sizes.events;
    let long = scene.session(events)?;
    let (bed, id) = &*long;
    let head = bed.engine.show(id)?.head_seq();
    let store = format!("--store={}", bed.files().url());
    let from = format!("--from={}", head - 9);
    let fork = bed.engine.fork(&Fork::of(id.clone()))?.child_session_id;
    let (id, fork) = (id.as_str(), fork.as_str());
    let commands: [(&str, Vec<&str>); 4] = [
        ("show", vec![&store, "show", id]),
        ("log --from", vec![&store, "log", id, &from]),
        ("fork", vec![&store, "fork", id]),
        ("diff", vec![&store, "diff", id, fork]),
    ];
    let program = Program::forklore(scene.dir())?;
    let mut figures = Vec::new();
    for (name, args) in commands {
        let (mut took, mut most) = (Samples::default(), None);
        for _ in 0..ROUNDS {
            let ended = program.watched(&args)?;
            took.add(ended.took);
            most = most.max(ended.anonymous);
        }
        let Some(most) = most else {
            return Err(Error::Wrong(format!("`forklore {name}` ended before it was looked at")));
        };
        let what = format!("peak RssAnon of `forklore {name}`, {} events of 1 KB", grouped(events));
        let peak = most as f64 / 1e6;
        let figure = Figure::alone(what, Goal::AtMost(128.0), peak, Unit::Megabytes);
        figures.push(figure.from(took.to_string(), ""));
    }
    Ok(figures)
}
