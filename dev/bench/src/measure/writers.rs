//! Measures processes that append to one store concurrently. Together they must append more than
//! one process does, and none may starve.

use std::cell::RefCell;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use forklore::prelude::*;

use super::writer::{Written, now};
use crate::chart::{Chart, Scale};
use crate::error::{Doing, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::findings::Findings;
use crate::process::Program;
use crate::samples::{Rival, Samples, formatted, in_turns};
use crate::scene::{Bed, Scene, session};

const WRITERS: usize = 4;

/// The numbers of concurrent writer processes in the chart. The table of results compares the third
/// of these numbers with the first.
const PROCESSES: [usize; 4] = [1, 2, WRITERS, 8];
const ROUNDS: usize = 7;

/// The time between the start of the writer processes and the moment when all begin to append.
/// Every writer can open the store in this time.
const HEAD_START: Duration = Duration::from_millis(400);

/// The combined result of all writer processes of one round.
struct Round {
    /// How evenly the writers shared the store: the largest number of appends of one writer divided
    /// by the smallest.
    spread: f64,
    longest: Duration,
}

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let most = PROCESSES.into_iter().max().unwrap_or(1);
    let (bed, sessions) =
        scene.store(|engine| (0..most).map(|_| session(engine, 10)).collect::<Result<Vec<_>>>())?;
    let one: Vec<_> = sessions.iter().take(1).cycle().take(most).cloned().collect();
    let mut chart = Chart {
        name: "append-processes",
        title: "Durable appends of 1 KB by processes that share a store",
        across: "processes",
        up: "appends in a second, together",
        unit: Scale::Count,
        lines: Vec::new(),
    };
    let mut figures = Vec::new();
    for (how, sessions) in [("a session each", &sessions), ("all one session", &one)] {
        let (samples, rounds) = in_rounds(scene, &bed, sessions)?;
        for (processes, took) in PROCESSES.into_iter().zip(&samples) {
            chart.rate(how, processes, took);
        }
        if let [alone, _, together, _] = samples.as_slice() {
            figures.extend(figures_of(how, alone, together, &rounds));
        }
    }
    Ok(Findings::from(figures).with(chart))
}

/// Measures one, two, four and eight writer processes in alternation. Returns the average time per
/// append for each number of processes. Also returns, for each round with four processes, how
/// evenly they shared the store, and the longest append.
fn in_rounds(
    scene: &Scene,
    bed: &Bed,
    sessions: &[SessionId],
) -> Result<(Vec<Samples>, Vec<Round>)> {
    let rounds = RefCell::new(Vec::new());
    let mut rivals: Vec<Rival<'_>> = Vec::new();
    for processes in PROCESSES {
        let rounds = &rounds;
        rivals.push(Box::new(move || {
            let written = at_once(scene, bed, sessions.get(..processes).unwrap_or_default())?;
            if processes == WRITERS {
                rounds.borrow_mut().push(Round::of(&written));
            }
            let appends: u64 = written.iter().map(|it| it.appends).sum();
            Ok(Duration::from_millis(scene.sizes.millis).div_f64(appends.max(1) as f64))
        }));
    }
    let samples = in_turns(scene.rounds(ROUNDS), &mut rivals)?;
    drop(rivals);
    Ok((samples, rounds.into_inner()))
}

/// Starts one writer process for each element of `sessions` and waits until all end. All processes
/// append at the same time.
fn at_once(scene: &Scene, bed: &Bed, sessions: &[SessionId]) -> Result<Vec<Written>> {
    let program = Program::itself(scene.dir())?;
    let begin = now() + HEAD_START;
    let (begin, millis) = (begin.as_millis().to_string(), scene.sizes.millis.to_string());
    let reports = scene.folder()?;
    let mut running = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let report = reports.path().join(number.to_string());
        let args = [
            "writer",
            &format!("--store={}", bed.files().url()),
            &format!("--session={session}"),
            &format!("--begin={begin}"),
            &format!("--millis={millis}"),
            &format!("--report={}", report.display()),
        ];
        running.push((program.start(&args, Stdio::null())?, report));
    }
    let mut written = Vec::new();
    for (mut writer, report) in running {
        let status = writer.wait().doing("cannot wait for", &report)?;
        program.check(&["writer"], status)?;
        let text = fs::read_to_string(&report).doing("cannot read", &report)?;
        written.push(Written::parse(&text)?);
    }
    Ok(written)
}

impl Round {
    fn of(written: &[Written]) -> Self {
        let appends = || written.iter().map(|it| it.appends);
        let (least, most) = (appends().min().unwrap_or(0), appends().max().unwrap_or(0));
        let longest = written.iter().map(|it| it.longest).max().unwrap_or_default();
        Self { spread: most as f64 / least.max(1) as f64, longest }
    }
}

fn figures_of(how: &str, alone: &Samples, together: &Samples, rounds: &[Round]) -> Vec<Figure> {
    let mut spreads: Vec<_> = rounds.iter().map(|round| round.spread).collect();
    spreads.sort_by(f64::total_cmp);
    let median = spreads.get(spreads.len() / 2).copied().unwrap_or(f64::INFINITY);
    let widest = spreads.last().copied().unwrap_or(f64::INFINITY);
    let longest = rounds.iter().map(|round| round.longest).max().unwrap_or_default();
    let who = format!("{WRITERS} processes, {how}");
    vec![
        // More is better in this figure: the duration of one process's append divided by that of
        // four processes.
        Figure::ratio(
            format!("{who}: appends in the time of one process's append"),
            if how == "a session each" { Goal::AtLeast(1.3) } else { Goal::None },
            together,
            alone,
        )
        .from(format!("{together} an append"), format!("{alone} an append")),
        Figure::alone(
            format!("{who}: the fastest against the slowest"),
            Goal::AtMost(1.2),
            median,
            Unit::Times,
        )
        .from(format!("{median:.2}, the widest {widest:.2}"), ""),
        Figure::alone(
            format!("{who}: the longest wait for one append"),
            Goal::AtMost(5.0),
            longest.as_secs_f64(),
            Unit::Seconds,
        )
        .from(formatted(longest), ""),
    ]
}
