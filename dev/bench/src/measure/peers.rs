//! Measures the same operations in the peers, the alternatives that an agent's author might use,
//! with a short, a medium and a long session. This module measures loads and appends; `branching`
//! and `descent` measure forks.

use std::cell::RefCell;

use forklore::prelude::*;

use super::load::stream;
use super::{branching, descent};
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal};
use crate::findings::Findings;
use crate::peer::{KINDS, Peer};
use crate::samples::{Rival, Samples, in_turns, timed};
use crate::scene::{Bed, Scene, message, session};
use crate::thousands::grouped;

/// The name of forklore in the charts.
pub(super) const FORKLORE: &str = "forklore";

const APPENDS: usize = 40;
const LOADS: usize = 10;

/// An operation of a peer (a library that forklore is compared with). Returns the duration.
type Ask = fn(&mut Peer) -> Result<std::time::Duration>;

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let mut findings = Findings::default();
    for messages in scene.sizes.messages {
        findings.add(loads_and_appends(scene, messages)?);
    }
    findings.add(branching::measure(scene)?);
    findings.add(descent::measure(scene)?);
    Ok(findings)
}

/// Starts every peer (a library that forklore is compared with) with its own session of `messages`
/// messages. `dir` contains the files of the sessions and must exist as long as the peers run.
pub(super) fn start(
    scene: &Scene,
    dir: &std::path::Path,
    messages: usize,
) -> Result<Vec<RefCell<Peer>>> {
    let python = scene.python()?;
    let start = |kind| Ok(RefCell::new(Peer::start(kind, python, dir, messages)?));
    KINDS.map(start).into_iter().collect()
}

/// Returns the implementations to measure: `own`, the operation in forklore, and then `ask`, the
/// same operation in each peer (a library that forklore is compared with).
pub(super) fn rivals<'a>(own: Rival<'a>, peers: &'a [RefCell<Peer>], ask: Ask) -> Vec<Rival<'a>> {
    let mut rivals = vec![own];
    for peer in peers {
        rivals.push(Box::new(move || ask(&mut peer.borrow_mut())));
    }
    rivals
}

fn loads_and_appends(scene: &Scene, messages: usize) -> Result<Vec<Figure>> {
    let dir = scene.folder()?;
    let peers = start(scene, dir.path(), messages)?;
    let (bed, id) = scene.store(|engine| session(engine, messages))?;
    let load = Box::new(|| timed(|| load(&bed, &id, messages)));
    let loads = in_turns(scene.rounds(LOADS), &mut rivals(load, &peers, Peer::load))?;
    let request = Batch::from(vec![message(0)?]);
    let append = Box::new(|| timed(|| Ok(bed.engine.append(&id, &request)?)));
    let appends = in_turns(scene.rounds(APPENDS), &mut rivals(append, &peers, Peer::append))?;
    let mut figures = against_forklore("load", messages, &loads);
    figures.extend(against_forklore("append", messages, &appends));
    Ok(figures)
}

fn load(bed: &Bed, id: &SessionId, messages: usize) -> Result<()> {
    let loaded = stream(&bed.engine, id)?.events;
    if loaded == messages { Ok(()) } else { Err(Error::Wrong(format!("{loaded} events loaded"))) }
}

/// Returns how many times longer the operation `verb` takes in each peer (a library) than in
/// forklore. `samples` begins with forklore, followed by the peers.
fn against_forklore(verb: &str, messages: usize, samples: &[Samples]) -> Vec<Figure> {
    let Some((own, theirs)) = samples.split_first() else {
        return Vec::new();
    };
    let figures = KINDS.iter().zip(theirs).map(|(kind, took)| {
        let what = format!("{verb} at {} messages: {}", grouped(messages), kind.name);
        Figure::ratio(what, Goal::None, own, took)
    });
    figures.collect()
}
