//! Measures the shared store on a PostgreSQL of its own, with durable commits, against what the same
//! server does without forklore.

mod bare;
mod batch;
mod followers;
mod lists;
mod rivals;
mod wire;

use std::time::Duration;

use forklore::prelude::*;

use self::bare::Bare;
use self::batch::is;
use super::load::stream;
use super::threads::an_append;
use crate::error::Result;
use crate::figure::{Figure, Goal, Unit};
use crate::findings::Findings;
use crate::output;
use crate::postgres::Server;
use crate::samples::{Rival, Samples, in_turns, pair, timed};
use crate::scene::{Scene, session};
use crate::thousands::grouped;

/// How often the bare insert and the append of forklore take turns, and for how long each.
const TURNS: usize = 5;
const TURN: Duration = Duration::from_secs(3);
/// The numbers of connections that append at the same time, with their goals.
const CONNECTIONS: [usize; 2] = [1, 16];
/// The number of events of the session that is loaded.
const LOADED: usize = 5_000;
const LOADS: usize = 60;
const FORKS: usize = 200;

/// A part of the measurement.
type Part = fn(&Scene, &Server) -> Result<Vec<Figure>>;

pub(super) fn measure(scene: &Scene) -> Result<Findings> {
    let server = Server::start(scene)?;
    let mut findings = Findings::default();
    let parts: [(&str, Part); 7] = [
        ("appends", appends),
        ("round trips", wire::measure),
        ("loads", loads),
        ("the work of other libraries", rivals::measure),
        ("forks", forks),
        ("followers", followers::measure),
        ("lists", lists::measure),
    ];
    for (name, part) in parts {
        output::progress(name);
        let figures = part(scene, &server)?;
        figures.iter().for_each(|figure| output::result(&figure.row()));
        findings.add(figures);
    }
    Ok(findings)
}

/// Compares appends of 1 KB with inserts of the same bytes by pgbench, one after the other.
fn appends(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let time = if scene.sizes.millis < 1_000 { Duration::from_secs(1) } else { TURN };
    let mut figures = Vec::new();
    for connections in CONNECTIONS {
        let name = format!("append{connections}");
        let engine = server.store(&name, connections)?;
        let bare = Bare::new(scene, server, &name)?;
        let sessions =
            (0..connections).map(|_| session(&engine, 10)).collect::<Result<Vec<_>>>()?;
        let mut rivals: Vec<Rival<'_>> = vec![
            Box::new(|| bare.insert(connections, time)),
            Box::new(|| an_append(&engine, &sessions, time)),
        ];
        let samples = in_turns(scene.rounds(TURNS), &mut rivals)?;
        let [inserts, appends] = samples.as_slice() else { continue };
        let what = format!("append of 1 KB by {connections} at once against pgbench's bare INSERT");
        figures.push(match connections {
            1 => Figure::ratio(
                "append of 1 KB against pgbench's bare INSERT, one connection",
                Goal::AtMost(1.15),
                inserts,
                appends,
            ),
            // More is better here: the appends in the time of an insert.
            _ => Figure::ratio(format!("{what}: throughput"), Goal::AtLeast(0.8), appends, inserts)
                .from(per(appends), per(inserts)),
        });
    }
    Ok(figures)
}

/// Formats the times of an operation when several run at once.
fn per(samples: &Samples) -> String {
    let rate = 1.0 / samples.median().as_secs_f64();
    format!("{rate:.0}/s")
}

/// Compares loads of a session with reads of its payloads by one SELECT.
fn loads(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let events = if scene.sizes.spanned < LOADED { scene.sizes.spanned } else { LOADED };
    let engine = server.store("loads", 4)?;
    let id = session(&engine, events)?;
    let reader = server.reader("loads")?;
    let mut rivals: Vec<Rival<'_>> = vec![
        Box::new(|| timed(|| is(reader.payloads(id.as_str())?, events))),
        Box::new(|| timed(|| is(stream(&engine, &id)?.events, events))),
    ];
    let samples = in_turns(scene.rounds(LOADS), &mut rivals)?;
    let [select, load] = samples.as_slice() else { return Ok(Vec::new()) };
    let what = format!("load of {} events against `SELECT data`", grouped(events));
    Ok(vec![Figure::ratio(what, Goal::AtMost(1.3), select, load)])
}

/// Compares forks of a long session with forks of a short one.
fn forks(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let [short, long] = scene.sizes.events;
    let engine = server.store("forks", 4)?;
    let few = Fork::of(session(&engine, short)?);
    let (many, filled) = {
        let begun = std::time::Instant::now();
        let many = session(&engine, long)?;
        (Fork::of(many), begun.elapsed())
    };
    server.settle("forks")?;
    let fork = |request: &Fork| timed(|| Ok(engine.fork(request)?));
    let (short_took, long_took) = pair(scene.rounds(FORKS), || fork(&few), || fork(&many))?;
    let what = format!("fork: parent of {} events against {}", grouped(long), grouped(short));
    let written = server.written("forks", || Ok(engine.fork(&many).map(drop)?))?;
    Ok(vec![
        Figure::ratio(what, Goal::AtMost(1.2), &short_took, &long_took),
        Figure::alone(
            format!("write-ahead log of one fork, parent of {} events", grouped(long)),
            Goal::None,
            written as f64,
            Unit::Bytes,
        )
        .from("with the pages that the first write after a checkpoint copies", ""),
        Figure::alone(
            format!("{} events of 1 KB appended in batches", grouped(long)),
            Goal::None,
            filled.as_secs_f64(),
            Unit::Seconds,
        ),
    ])
}
