//! Measures the same work by the libraries that store sessions in PostgreSQL, on the same server.

use std::cell::RefCell;
use std::ffi::OsStr;

use forklore::prelude::*;

use super::batch::{is, one};
use crate::error::Result;
use crate::figure::{Figure, Goal, Unit};
use crate::measure::load::stream;
use crate::measure::peers::rivals;
use crate::peer::{ON_POSTGRES, Peer};
use crate::postgres::Server;
use crate::samples::{Samples, in_turns, timed};
use crate::scene::{Scene, session};
use crate::thousands::grouped;

const APPENDS: usize = 30;
const FORKS: usize = 10;
const LOADS: usize = 10;

pub(super) fn measure(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for messages in scene.sizes.messages {
        figures.extend(at(scene, server, messages)?);
    }
    Ok(figures)
}

fn at(scene: &Scene, server: &Server, messages: usize) -> Result<Vec<Figure>> {
    let folder = scene.folder()?;
    let own = format!("own{messages}");
    let engine = server.store(&own, 4)?;
    let id = session(&engine, messages)?;
    let mut peers = Vec::new();
    let mut bytes = Vec::new();
    for (at, kind) in ON_POSTGRES.into_iter().enumerate() {
        let database = format!("peer{at}x{messages}");
        let url = server.database(&database)?;
        let python = scene.python()?;
        let peer = Peer::at(kind, python, folder.path(), OsStr::new(&url), messages)?;
        bytes.push((kind.name, server.stored(&database)?));
        peers.push(RefCell::new(peer));
    }
    let stored = server.stored(&own)?;
    let load = Box::new(|| timed(|| is(stream(&engine, &id)?.events, messages)));
    let loads = in_turns(scene.rounds(LOADS), &mut rivals(load, &peers, Peer::load))?;
    let fork = Fork::of(id.clone());
    let forking = Box::new(|| timed(|| Ok(engine.fork(&fork)?)));
    let forks = in_turns(scene.rounds(FORKS), &mut rivals(forking, &peers, Peer::fork))?;
    let batch = one()?;
    let append = Box::new(|| timed(|| Ok(engine.append(&id, &batch)?)));
    let appends = in_turns(scene.rounds(APPENDS), &mut rivals(append, &peers, Peer::append))?;
    let mut figures = against("load", messages, &loads);
    figures.extend(against("fork", messages, &forks));
    figures.extend(against("append", messages, &appends));
    for (name, bytes) in bytes {
        let what = format!("tables with {} messages: {name}", grouped(messages));
        let figure = Figure::alone(what, Goal::None, bytes as f64 / stored as f64, Unit::Times);
        let kilobytes = |bytes: u64| format!("{:.0} KB", bytes as f64 / 1e3);
        figures.push(figure.from(kilobytes(bytes), kilobytes(stored)));
    }
    Ok(figures)
}

/// Returns how many times longer an operation takes in each library than in forklore, which is the
/// first of the samples.
fn against(verb: &str, messages: usize, samples: &[Samples]) -> Vec<Figure> {
    let Some((own, theirs)) = samples.split_first() else { return Vec::new() };
    let figures = ON_POSTGRES.iter().zip(theirs).map(|(kind, took)| {
        let how = if verb == "fork" { format!(", {}", kind.fork) } else { String::new() };
        let what = format!("{verb} at {} messages: {}{how}", grouped(messages), kind.name);
        Figure::ratio(what, Goal::None, own, took)
    });
    figures.collect()
}
