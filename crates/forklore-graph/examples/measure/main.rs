//! Measures the projection of a graph of 100,000 events and the queries in `docs/graph.md`. Also
//! measures how long a graph store takes to fork a short and a long session.
//!
//! With a folder, measures the standing index of a store there instead. The first run makes the
//! store, so that it is not part of the memory that later runs take. With `memory` behind the folder,
//! the queries are answered without the index.
//!
//! ```console
//! $ cargo run --release -p forklore-graph --example measure
//! $ for i in 1 2 3; do cargo run --release -p forklore-graph --example measure -- /tmp/measure; done
//! ```

mod index;
mod sessions;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Engine, Fork, NewEvent};
use forklore_graph::{
    Answer, Format, Graph, GraphStore, Projection, Query, Scope, session_iri, term, write,
};
use forklore_store::memory::MemoryStore;
use sessions::EVENTS;

const DOCS: &str = include_str!("../../../../docs/graph.md");
const RUNS: u64 = 5;

/// Returns a graph store that contains one session with `turns` turns, and builds the store's
/// graph.
fn live_graph(
    turns: usize,
) -> Result<(tempfile::TempDir, Arc<GraphStore>, SessionId), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(GraphStore::open(&folder.path().join("store"), None, &[])?);
    let engine = Engine::new(store.clone());
    let session = engine.create(&Create::in_workspace(Workspace::new("/home/ann/demo")))?.id;
    for at in 0..turns {
        engine.append(&session, &NewEvent::user(&format!("turn {at}"))?.into())?;
    }
    store.graph()?;
    Ok((folder, store, session))
}

/// Forks a short and a long session alternately, 20 times each. Prints for each session the best
/// time of a fork with the update of the graph, and the number of new quads.
fn forks(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let stores = [(5, live_graph(5)?), (5_000, live_graph(5_000)?)];
    let mut best = [Duration::MAX; 2];
    let mut triples = [0; 2];
    for _ in 0..20 {
        for (at, (_, (_, store, session))) in stores.iter().enumerate() {
            let engine = Engine::new(store.clone());
            let before = store.graph()?.len()?;
            let began = Instant::now();
            engine.fork(&Fork::of(session.clone()))?;
            let graph = store.graph()?;
            let took = began.elapsed();
            let after = graph.len()?;
            if let (Some(best), Some(triples)) = (best.get_mut(at), triples.get_mut(at)) {
                *best = took.min(*best);
                *triples = after - before;
            }
        }
    }
    for (at, (turns, _)) in stores.iter().enumerate() {
        let (best, triples) = (best.get(at).copied().unwrap_or_default(), triples.get(at));
        let triples = triples.copied().unwrap_or_default();
        writeln!(out, "{best:>12.1?} best, {triples} triples: a fork behind {turns} turns")?;
    }
    Ok(())
}

/// Returns the peak resident memory of the process, in MiB, or 0 if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Returns the processor time of the process, in ms. Unlike elapsed time, it is independent of
/// other load on the machine.
fn worked() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let ticks = behind.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    ticks.sum::<u64>() * 10
}

/// Runs the queries in `docs/graph.md`. Prints the best time of each.
fn queries(
    root: &SessionId,
    child: &SessionId,
    out: &mut impl Write,
    ask: impl Fn(&Query<'_>) -> Result<Answer, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for section in DOCS.split("\n### ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        let Some((_, query)) = section.split_once("```sparql\n") else { continue };
        let text = query.split("```").next().unwrap_or_default();
        let session = |name: &str, id| (name.to_owned(), session_iri(id).into());
        let parameters = match heading.split(' ').next().unwrap_or_default() {
            "4" => vec![session("a", root), session("b", child)],
            "9" => vec![("word".to_owned(), term("turn 77 of")?)],
            "10" => vec![session("session", child)],
            _ => Vec::new(),
        };
        let (limit, timeout) = (100_000, Duration::from_secs(60));
        let query = Query { text, parameters, limit, timeout };
        let (mut best, mut rows, before) = (Duration::MAX, 0, worked());
        for _ in 0..RUNS {
            let began = Instant::now();
            rows = match &ask(&query)? {
                Answer::Rows { rows, .. } => rows.len(),
                _ => 0,
            };
            best = best.min(began.elapsed());
        }
        let worked = (worked() - before) / RUNS;
        writeln!(out, "{best:>12.1?} best, {worked:>4} ms of work, {rows:>5} rows  {heading}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let mut words = std::env::args().skip(1);
    if let Some(folder) = words.next() {
        return index::measure(
            folder.as_ref(),
            words.next().as_deref() == Some("memory"),
            &mut out,
        );
    }
    let (engine, root, child) = sessions::grown(Arc::new(MemoryStore::default()))?;
    writeln!(out, "{EVENTS} events in a memory store: {} MB", peak())?;
    for format in [Format::NQuads, Format::Turtle] {
        let began = Instant::now();
        let quads = Projection::new(&engine, &Scope::Everything)?;
        let count =
            write(quads.map(|some| some.map_err(Box::<dyn Error>::from)), format, io::sink())?;
        writeln!(out, "told {count} quads as {format:?} in {:?}: {} MB", began.elapsed(), peak())?;
    }
    let (began, before) = (Instant::now(), worked());
    let graph = Graph::of(Projection::new(&engine, &Scope::Everything)?)?;
    let (took, worked_for) = (began.elapsed(), worked() - before);
    let quads = graph.len()?;
    writeln!(out, "read {quads} quads in {took:?}, {worked_for} ms of work: {} MB", peak())?;
    queries(&root, &child, &mut out, |query| Ok(graph.answer(query)?))?;
    drop(graph);
    forks(&mut out)
}
