//! Measures forks of short and long sessions: by forklore, by copying a file, and by the peers.

use std::cell::RefCell;

use forklore::prelude::*;

use super::copy::Plain;
use super::fork::Forks;
use super::peers::{FORKLORE, rivals, start};
use crate::chart::{Chart, Scale};
use crate::error::Result;
use crate::figure::{Figure, Goal, Unit};
use crate::findings::Findings;
use crate::peer::{KINDS, Peer};
use crate::samples::{Rival, Samples, in_turns};
use crate::scene::{Scene, session};
use crate::thousands::grouped;

const COPY: &str = "copy of a JSONL file";

/// The number of measured forks per implementation. A tenth more forks are made as warm-up, so each
/// implementation makes a hundred.
const FORKS: usize = 91;

/// The name of an implementation, and the growth of its files due to the forks, in bytes.
type Grown = (&'static str, u64);

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let mut chart = Chart {
        name: "fork-length",
        title: "A fork, durable, against the length of the history",
        across: "messages of 1 KB in the session",
        up: "time of a fork",
        unit: Scale::Time,
        lines: Vec::new(),
    };
    own(scene, &mut chart)?;
    let mut figures = Vec::new();
    let longest = scene.sizes.messages.last().copied().unwrap_or_default();
    for messages in scene.sizes.messages {
        figures.extend(everybody(scene, messages, messages == longest, &mut chart)?);
    }
    for events in scene.sizes.beyond {
        beyond(scene, events, &mut chart)?;
    }
    Ok(Findings::from(figures).with(chart))
}

/// Measures how long forks take in each implementation: forklore, a file copy, and the peers (other
/// libraries). The sessions have `messages` messages. The results are checked against promised
/// limits only if `judged` is set.
fn everybody(
    scene: &Scene,
    messages: usize,
    judged: bool,
    chart: &mut Chart,
) -> Result<Vec<Figure>> {
    let dir = scene.folder()?;
    let peers = start(scene, dir.path(), messages)?;
    let plain = Plain::session(scene, messages)?;
    let (bed, id) = scene.store(|engine| session(engine, messages))?;
    let before = sizes(&peers)?;
    let on_disk = bed.files().size()?;
    let mut forks = Forks::of(&bed, &id, &Selector::End);
    let mut rivals = rivals(Box::new(|| forks.make()), &peers, Peer::fork);
    rivals.insert(1, Box::new(|| plain.fork()));
    let samples = in_turns(scene.rounds(FORKS), &mut rivals)?;
    drop(rivals);
    let names = std::iter::once(COPY).chain(KINDS.map(|kind| kind.name));
    for (name, took) in names.zip(samples.iter().skip(1)) {
        chart.took(name, messages, took);
    }
    let mut figures = times(messages, judged, &samples);
    if judged {
        let (count, data) = (forks.bytes.len(), forks.bytes.iter().sum());
        drop(forks);
        let mut grown = vec![(FORKLORE, bed.close().size()?.saturating_sub(on_disk))];
        grown.push((COPY, plain.size()? * count as u64));
        let names = KINDS.iter().map(|kind| kind.name);
        let after = sizes(&peers)?.into_iter().zip(before).map(|(now, before)| now - before);
        grown.extend(names.zip(after));
        figures.extend(space(messages, count, data, grown));
    }
    Ok(figures)
}

fn sizes(peers: &[RefCell<Peer>]) -> Result<Vec<u64>> {
    peers.iter().map(|peer| peer.borrow_mut().size()).collect()
}

/// Returns how many times longer a fork takes as a file copy and in each peer (another library)
/// than in forklore. `samples` begins with the durations of forklore and of the copy.
fn times(messages: usize, judged: bool, samples: &[Samples]) -> Vec<Figure> {
    let [own, copy, theirs @ ..] = samples else {
        return Vec::new();
    };
    let goal = if judged { Goal::AtLeast(100.0) } else { Goal::None };
    let at = grouped(messages);
    let copied = Figure::ratio(format!("fork at {at} messages: {COPY}"), Goal::None, own, copy);
    let theirs = KINDS.iter().zip(theirs).map(|(kind, took)| {
        let what = format!("fork at {at} messages: {}, {}", kind.name, kind.fork);
        Figure::ratio(what, goal, own, took)
    });
    std::iter::once(copied).chain(theirs).collect()
}

/// Returns figures of the space that `count` forks needed. `data` is the number of bytes that
/// forklore stored, `grown` the growth of the files of each implementation.
fn space(messages: usize, count: usize, data: u64, grown: Vec<Grown>) -> Vec<Figure> {
    let of = format!("{count} forks at {} messages", grouped(messages));
    let kilobytes = |what: String, goal, bytes: u64| {
        Figure::alone(what, goal, bytes as f64 / 1e3, Unit::Kilobytes)
    };
    let data = kilobytes(format!("data of {of}: {FORKLORE}"), Goal::AtMost(100.0), data);
    let grown = grown
        .into_iter()
        .map(|(name, bytes)| kilobytes(format!("files grown by {of}: {name}"), Goal::None, bytes));
    std::iter::once(data).chain(grown).collect()
}

/// Measures forklore's forks and adds them to the chart as a line, with one point per session
/// length. The lengths are measured in alternation, so that a disturbance of the machine affects
/// all of them.
fn own(scene: &Scene, chart: &mut Chart) -> Result<()> {
    let lengths = scene.sizes.messages.into_iter().chain(scene.sizes.beyond);
    let sessions = lengths.map(|events| Ok((events, scene.session(events)?)));
    let sessions = sessions.collect::<Result<Vec<_>>>()?;
    let mut forks: Vec<_> =
        sessions.iter().map(|(_, made)| Forks::of(&made.0, &made.1, &Selector::End)).collect();
    let mut rivals: Vec<Rival<'_>> = Vec::new();
    for forks in &mut forks {
        rivals.push(Box::new(|| forks.make()));
    }
    let samples = in_turns(scene.rounds(FORKS), &mut rivals)?;
    for ((events, _), took) in sessions.iter().zip(&samples) {
        chart.took(FORKLORE, *events, took);
    }
    Ok(())
}

/// Measures copies of a session file with `events` messages, and adds their duration to the chart.
/// Such sessions are too long for the peers (the other libraries).
fn beyond(scene: &Scene, events: usize, chart: &mut Chart) -> Result<()> {
    let plain = Plain::session(scene, events)?;
    // Copying a long file takes seconds, so a few rounds suffice to distinguish it from a fork.
    let rounds = (2_000_000 / events).clamp(5, FORKS);
    let mut rivals: [Rival<'_>; 1] = [Box::new(|| plain.fork())];
    for took in in_turns(rounds, &mut rivals)? {
        chart.took(COPY, events, &took);
    }
    Ok(())
}
