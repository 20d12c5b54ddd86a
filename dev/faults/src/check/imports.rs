//! Checks that many imports of one file, some of them killed, have the same result as a single
//! import.

use std::path::Path;
use std::sync::Arc;

use forklore::Engine;
use forklore::import::{ImportOptions, Importer};
use forklore_core::Header;
use forklore_core::workspace::Workspace;
use forklore_store::memory::MemoryStore;
use forklore_store::port::{At, Filter, Headers, LogEntry};

/// What an import created: the sessions with their logs, and the file as the store restores it.
#[derive(Debug, PartialEq)]
struct Imported {
    sessions: Vec<(Header, Vec<LogEntry>)>,
    restored: Vec<u8>,
}

/// Imports the file once more, so that it is completely imported. Compares the sessions with those
/// of an import of the same file into an empty memory store.
///
/// # Errors
/// A description of the difference, or the reason why the import failed.
pub fn compare_import(engine: &Engine, path: &Path) -> Result<(), String> {
    let here = imported(engine, path)?;
    let memory = Engine::new(Arc::new(MemoryStore::default()));
    let there = imported(&memory.with_agent_formats(forklore::formats::AGENT_FORMATS), path)?;
    let file = std::fs::read(path).map_err(|error| error.to_string())?;
    if here.restored != file {
        return Err("the file that is restored is another one".into());
    }
    let ids = |imported: &Imported| -> Vec<_> {
        imported.sessions.iter().map(|(header, log)| (header.id.clone(), log.len())).collect()
    };
    if ids(&here) != ids(&there) {
        return Err(format!("the import made {:?}, not {:?}", ids(&here), ids(&there)));
    }
    let differs = here.sessions.iter().zip(&there.sessions).find(|(here, there)| here != there);
    match differs {
        Some((here, _)) => Err(format!("the imported session {} is another", here.0.id)),
        None => Ok(()),
    }
}

fn imported(engine: &Engine, path: &Path) -> Result<Imported, String> {
    let failed = |error: forklore::Error| format!("import: {error}");
    let options = ImportOptions::in_workspace(Workspace::new("/here"));
    let report =
        Importer::new(engine).import(&[path.to_owned()], &options, &mut |_| {}).map_err(failed)?;
    if !report.problems.is_empty() {
        return Err(format!("the import has problems: {:?}", report.problems));
    }
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = engine.store().sessions(&all, None, 0).and_then(Headers::all);
    let headers = headers.map_err(|error| failed(error.into()))?;
    let mut sessions = Vec::new();
    for mut header in headers.into_iter().filter(|header| header.dialect.is_some()) {
        let log = engine.events(&header.id, At::Seq(0)).collect::<Result<_, _>>();
        let log = log.map_err(failed)?;
        // The path is not compared: the file is one of several copies, imported at different times.
        header.source = None;
        sessions.push((header, log));
    }
    sessions.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    let mut restored = Vec::new();
    let first = sessions.first().ok_or("the import made no session")?;
    engine.restore(&first.0.id, &mut restored).map_err(failed)?;
    Ok(Imported { sessions, restored })
}
