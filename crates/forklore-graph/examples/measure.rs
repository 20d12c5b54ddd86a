//! Measures the projection of a graph of 100,000 events and the queries in `docs/graph.md`. Also
//! measures how long a graph store takes to fork a short and a long session.
//!
//! ```console
//! $ cargo run --release -p forklore-graph --example measure
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::workspace::Workspace;
use forklore_core::{Data, EventType, SessionId};
use forklore_engine::{Create, Engine, Fork, NewEvent};
use forklore_graph::{
    Format, Graph, GraphStore, Projection, Query, Scope, session_iri, term, write,
};
use forklore_store::memory::MemoryStore;
use serde_json::json;

const DOCS: &str = include_str!("../../../docs/graph.md");
const EVENTS: usize = 100_000;
const SESSIONS: usize = 20;
const RUNS: u64 = 5;

/// Returns the events of one session: user messages, tool calls, results (one in 50 failed),
/// responses and usage.
fn events(session: usize) -> Result<Vec<NewEvent>, Box<dyn Error>> {
    let mut events = Vec::new();
    for at in 0..EVENTS / SESSIONS / 5 {
        let words = format!("turn {at} of session {session}: {}", "lorem ipsum dolor ".repeat(12));
        let tool = ["shell", "read_file", "search"].get(at % 3).copied().unwrap_or_default();
        let call = format!("c{at}");
        let all = [
            (EventType::USER_MESSAGE, json!({"content": words})),
            (EventType::TOOL_CALL, json!({"id": call, "name": tool, "arguments": {"at": at}})),
            (
                EventType::TOOL_RESULT,
                json!({"call_id": call, "content": words, "is_error": at % 50 == 0}),
            ),
            (EventType::ASSISTANT_MESSAGE, json!({"content": words})),
            (EventType::PROVIDER_USAGE, json!({"input": 1000, "output": 50, "cost": 0.01})),
        ];
        for (kind, data) in all {
            events.push(NewEvent::new(kind, Data::of(&data)?));
        }
    }
    Ok(events)
}

/// Builds ten families. Each has a root and a fork in the middle of the root. Each of the two has
/// half of the family's own events.
fn grown() -> Result<(Engine, SessionId, SessionId), Box<dyn Error>> {
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let mut last = None;
    for family in 0..SESSIONS / 2 {
        let root = engine.create(&Create::in_workspace(Workspace::new("/home/ann/demo")))?.id;
        engine.append(&root, &events(2 * family)?.into())?;
        let at = format!("turn:{}", EVENTS / SESSIONS / 10).parse()?;
        let child = engine.fork(&Fork::of(root.clone()).at(at))?.child_session_id;
        engine.append(&child, &events(2 * family + 1)?.into())?;
        last = Some((root, child));
    }
    let (root, child) = last.ok_or("no session")?;
    Ok((engine, root, child))
}

/// Returns a graph store that contains one session with this number of turns, and builds the
/// store's graph.
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

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let (engine, root, child) = grown()?;
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
    for section in DOCS.split("\n### ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        let Some((_, query)) = section.split_once("```sparql\n") else { continue };
        let text = query.split("```").next().unwrap_or_default();
        let session = |name: &str, id| (name.to_owned(), session_iri(id).into());
        let parameters = match heading.split(' ').next().unwrap_or_default() {
            "4" => vec![session("a", &root), session("b", &child)],
            "9" => vec![("word".to_owned(), term("turn 77 of")?)],
            "10" => vec![session("session", &child)],
            _ => Vec::new(),
        };
        let (limit, timeout) = (100_000, Duration::from_secs(60));
        let query = Query { text, parameters, limit, timeout };
        let (mut best, mut rows, before) = (Duration::MAX, 0, worked());
        for _ in 0..RUNS {
            let began = Instant::now();
            let answer = graph.answer(&query)?;
            rows = match &answer {
                forklore_graph::Answer::Rows { rows, .. } => rows.len(),
                _ => 0,
            };
            best = best.min(began.elapsed());
        }
        let worked = (worked() - before) / RUNS;
        writeln!(out, "{best:>12.1?} best, {worked:>4} ms of work, {rows:>5} rows  {heading}")?;
    }
    drop(graph);
    forks(&mut out)
}
