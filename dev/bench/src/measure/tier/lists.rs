//! Measures what a person waits for in a store of very many sessions.

use std::time::{Duration, Instant};

use forklore::prelude::*;
use forklore::search::{Search, SearchIndex};

use super::server::Server;
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::{Samples, timed};
use crate::scene::{Scene, message, workspace};
use crate::thousands::grouped;

const ROUNDS: usize = 40;
/// The threads that fill the store.
const THREADS: usize = 8;
/// The goal, in milliseconds.
const GOAL: f64 = 50.0;

pub(super) fn measure(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let sessions = scene.sizes.sessions;
    let engine = server.store("lists", THREADS)?;
    let begun = Instant::now();
    fill(&engine, sessions)?;
    let filled = begun.elapsed();
    server.settle("lists")?;
    let list = ListRequest { limit: 50, ..ListRequest::default() };
    let mut last = None;
    let mut took = vec![
        (
            "list of the newest 50",
            repeat(scene, || {
                let listed = engine.list(&list)?.sessions;
                last = listed.first().map(|header| header.id.clone());
                Ok(())
            })?,
        ),
        (
            "`last` in a workspace",
            repeat(scene, || {
                let scope = Scope { workspace: Some(workspace()) };
                Ok(engine.resolve("last", &scope).map(drop)?)
            })?,
        ),
    ];
    let last = last.ok_or_else(|| Error::Wrong("there is no session".into()))?;
    let request = TreeRequest { session: Some(last), ..TreeRequest::default() };
    took.push(("tree of a family", repeat(scene, || Ok(engine.tree(&request).map(drop)?))?));
    let ms = |took: Duration| took.as_secs_f64() * 1e3;
    let mut figures = Vec::new();
    for (what, took) in took {
        let what = format!("{what}, {} sessions", grouped(sessions));
        let figure = Figure::alone(what, Goal::AtMost(GOAL), ms(took.median()), Unit::Milliseconds);
        figures.push(figure.from(took.to_string(), ""));
    }
    // The index of a store in a database is in memory, so the first search of a program reads all.
    let first = timed(|| search(&engine))?;
    let what = format!("first search of a program, {} sessions", grouped(sessions));
    figures.push(Figure::alone(what, Goal::AtMost(GOAL), ms(first), Unit::Milliseconds));
    let what =
        format!("{} sessions of two messages created by {THREADS} threads", grouped(sessions));
    let filled = Figure::alone(what, Goal::None, filled.as_secs_f64(), Unit::Seconds);
    figures.push(filled);
    Ok(figures)
}

fn repeat(scene: &Scene, mut call: impl FnMut() -> Result<()>) -> Result<Samples> {
    let mut took = Samples::default();
    call()?;
    for _ in 0..scene.rounds(ROUNDS) {
        took.add(timed(&mut call)?);
    }
    Ok(took)
}

fn search(engine: &Engine) -> Result<()> {
    let answer = SearchIndex::of(engine).search(&Search::of("caller"));
    answer.map(drop).map_err(|error| Error::Wrong(error.to_string()))
}

/// Creates sessions of two short messages.
fn fill(engine: &Engine, sessions: usize) -> Result<()> {
    let batch = Batch::from(vec![message(0)?, message(1)?]);
    let create = Create::in_workspace(workspace());
    std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let (batch, create) = (&batch, &create);
            scope.spawn(move || -> Result<()> {
                for _ in (thread..sessions).step_by(THREADS) {
                    let id = engine.create(create)?.id;
                    engine.append(&id, batch)?;
                }
                Ok(())
            })
        });
        let threads: Vec<_> = threads.collect();
        let panicked = |_| Error::Wrong("a thread panicked".into());
        threads.into_iter().try_for_each(|thread| thread.join().map_err(panicked)?)
    })
}
