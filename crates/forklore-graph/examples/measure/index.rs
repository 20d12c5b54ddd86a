//! Measures the standing index of a store on disk.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::SessionId;
use forklore_engine::{Engine, NewEvent};
use forklore_graph::{Graph, Projection, Query, Scope, Sessions};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::port::Filter;

use crate::sessions::{EVENTS, grown};
use crate::{peak, queries, worked};

/// Measures questions about the store in a folder. Makes the store if it is not there.
pub(crate) fn measure(
    folder: &Path,
    in_memory: bool,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("sessions.db");
    let is_new = !path.exists();
    let store = Arc::new(SqliteStore::open(&path, Options::default())?);
    if is_new {
        grown(store)?;
        writeln!(out, "{EVENTS} events: {} KB", path.metadata()?.len() / 1024)?;
        return Ok(());
    }
    let engine = Engine::new(store);
    let (root, child) = a_family(&engine)?;
    writeln!(out, "opened: {} MB", peak())?;
    let (began, before) = (Instant::now(), worked());
    if in_memory {
        let graph = Graph::of(Projection::new(&engine, &Scope::Everything)?)?;
        let (took, worked) = (began.elapsed(), worked() - before);
        let quads = graph.len()?;
        writeln!(out, "read {quads} quads in {took:?}, {worked} ms of work: {} MB", peak())?;
        return queries(&root, &child, out, |query| Ok(graph.answer(query)?));
    }
    let (parameters, limit, timeout) = (Vec::new(), 10, Duration::from_secs(600));
    let text = "SELECT (COUNT(*) AS ?n) { ?s a fl:Session }";
    let count = Query { text, parameters, limit, timeout };
    let sessions = Sessions::of(&engine);
    for doing in ["first question", "next question", "question after an append"] {
        if doing.ends_with("append") {
            engine.append(&root, &NewEvent::user("one more")?.into())?;
        }
        let (began, before) = (Instant::now(), worked());
        let read = sessions.answer(&Scope::Everything, &count)?.sessions;
        let (took, worked) = (began.elapsed(), worked() - before);
        writeln!(out, "{doing}: {read} sessions, {took:.1?}, {worked} ms of work: {} MB", peak())?;
    }
    let index = folder.join("sessions.db-cache/graph.db").metadata()?.len() / 1024;
    writeln!(out, "the index has {index} KB")?;
    queries(&root, &child, out, |query| Ok(sessions.answer(&Scope::Everything, query)?.answer))?;
    let family = Scope::Family(root.clone());
    writeln!(out, "in one family:")?;
    queries(&root, &child, out, |query| Ok(sessions.answer(&family, query)?.answer))?;
    writeln!(out, "{} MB", peak())?;
    Ok(())
}

/// Returns a root and its fork.
fn a_family(engine: &Engine) -> Result<(SessionId, SessionId), Box<dyn Error>> {
    let all = engine.store().sessions(&Filter::default(), None, 0)?.all()?;
    let child = all.iter().find_map(|header| Some((header.parent_id.clone()?, header.id.clone())));
    Ok(child.ok_or("no fork")?)
}
