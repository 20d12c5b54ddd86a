//! Measures what a person waits for in a store of very many sessions.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore::core::{Event, Header, Label, SessionKind, Usage};
use forklore::prelude::*;
use forklore::search::{Search, SearchIndex};
use forklore::store::port::{At, Direction, NewSession, Query, Transaction, Write};
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::postgres::Server;
use crate::samples::{Samples, timed};
use crate::scene::{Scene, message, workspace};
use crate::thousands::grouped;

const ROUNDS: usize = 40;
/// The threads that fill the store.
const THREADS: usize = 4;
/// The number of sessions that one transaction creates.
const AT_ONCE: usize = 200;
/// How many times as many sessions the larger store has.
const MORE: usize = 10;
/// The goal, in milliseconds.
const GOAL: f64 = 50.0;

pub(super) fn measure(scene: &Scene, server: &Server) -> Result<Vec<Figure>> {
    let engine = server.store("lists", THREADS)?;
    let few = scene.sizes.sessions;
    let mut figures = filled(server, &engine, 0..few)?;
    figures.extend(lists(scene, &engine, few)?);
    // The index of a store in a database is in memory, so the first search of a program reads all.
    let first = timed(|| search(&engine))?;
    let what = format!("first search of a program, {} sessions", grouped(few));
    figures.push(Figure::alone(what, Goal::AtMost(GOAL), ms(first), Unit::Milliseconds));
    let many = few * MORE;
    figures.extend(filled(server, &engine, few..many)?);
    figures.extend(lists(scene, &engine, many)?);
    Ok(figures)
}

/// Creates sessions until there are as many as wanted.
fn filled(server: &Server, engine: &Engine, numbers: Range<usize>) -> Result<Vec<Figure>> {
    let (count, all) = (numbers.len(), numbers.end);
    let took = timed(|| fill(engine, numbers))?;
    server.settle("lists")?;
    let what = format!("{} sessions created, {AT_ONCE} in a transaction", grouped(count));
    let figure = Figure::alone(what, Goal::None, took.as_secs_f64(), Unit::Seconds);
    Ok(vec![figure.from(format!("{} sessions then", grouped(all)), "")])
}

/// Measures the lists of a store with so many sessions.
fn lists(scene: &Scene, engine: &Engine, sessions: usize) -> Result<Vec<Figure>> {
    let list = ListRequest { limit: 50, ..ListRequest::default() };
    let mut last = None;
    let newest = repeat(scene, || {
        last = engine.list(&list)?.sessions.first().map(|header: &Header| header.id.clone());
        Ok(())
    })?;
    let last = last.ok_or_else(|| Error::Wrong("there is no session".into()))?;
    let scope = Scope { workspace: Some(workspace()) };
    let request = TreeRequest { session: Some(last), ..TreeRequest::default() };
    let took = [
        ("list of the newest 50", newest),
        ("`last` in a workspace", repeat(scene, || Ok(engine.resolve("last", &scope).map(drop)?))?),
        ("tree of a family", repeat(scene, || Ok(engine.tree(&request).map(drop)?))?),
    ];
    let figures = took.into_iter().map(|(what, took)| {
        let what = format!("{what}, {} sessions", grouped(sessions));
        let median = ms(took.median());
        let figure = Figure::alone(what, Goal::AtMost(GOAL), median, Unit::Milliseconds);
        figure.from(took.to_string(), "")
    });
    Ok(figures.collect())
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
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

/// Creates sessions of two messages, many in a transaction.
fn fill(engine: &Engine, sessions: Range<usize>) -> Result<()> {
    let pattern = Pattern::of(engine)?;
    let (next, to) = (AtomicUsize::new(sessions.start), sessions.end);
    std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|_| {
            scope.spawn(|| -> Result<()> {
                loop {
                    let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                    if first >= to {
                        return Ok(());
                    }
                    let numbers = first..to.min(first + AT_ONCE);
                    let writes = numbers.map(|number| pattern.session(number));
                    let writes = writes.collect::<Result<Vec<_>>>()?;
                    let transaction = Transaction { writes, ..Transaction::default() };
                    engine.store().commit(transaction)?;
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        let panicked = |_| Error::Wrong("a thread panicked".into());
        threads.into_iter().try_for_each(|thread| thread.join().map_err(panicked)?)
    })
}

/// A session that the others are like.
struct Pattern {
    events: Vec<Event>,
    created: Timestamp,
}

impl Pattern {
    fn of(engine: &Engine) -> Result<Self> {
        let header = engine.create(&Create::in_workspace(workspace()))?;
        engine.append(&header.id, &Batch::from(vec![message(0)?, message(1)?]))?;
        let query = Query { at: At::Seq(0), direction: Direction::Forward, limit: 9, bare: false };
        let page = engine.store().read(&header.id, &query)?;
        let events = page.events.into_iter().map(|stored| stored.event).collect();
        Ok(Self { events, created: header.created })
    }

    fn session(&self, number: usize) -> Result<Write> {
        let id = format!("list-{number}").parse();
        Ok(Write::Create(Box::new(NewSession {
            id: id.map_err(|_| Error::Wrong("no id".into()))?,
            kind: SessionKind::Root,
            label: Label::main(),
            title: Some(format!("Session {number}")),
            workspace: workspace(),
            principal: None,
            permissions: None,
            metadata: None,
            config: None,
            dialect: None,
            source: None,
            copy_of: None,
            created: self.created,
            from: None,
            events: self.events.clone(),
            usage: Usage::default(),
        })))
    }
}
