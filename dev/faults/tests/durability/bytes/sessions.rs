//! Tests with damaged session files of agents: one byte is wrong, or the file is truncated.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore::Engine;
use forklore::core::workspace::Workspace;
use forklore::import::{ImportOptions, ImportReport, Importer, ProblemKind};
use forklore::store::memory::MemoryStore;
use forklore_faults::bytes::{Damage, run_all};
use forklore_faults::golden::testdata;
use forklore_faults::soak::{Chance, seed, times};

#[derive(Clone, Debug)]
struct Case {
    file: PathBuf,
    damage: Damage,
}

/// Returns the session files of an agent that are small enough to be read thousands of times.
fn files(agent: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut folders = vec![testdata().join(agent)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let bytes = std::fs::read(&path).unwrap();
                if !bytes.is_empty() && bytes.len() < 64 << 10 {
                    found.push((path, bytes));
                }
            }
        }
    }
    found.sort();
    found
}

fn sweep(agent: &'static str, count: u64) {
    let files = files(agent);
    let mut chance = Chance::new(seed(), (2_000 + agent.len() as u64) << 32);
    let cases = (0..times(count)).map(|_| {
        let (file, bytes) = chance.one_of(&files).clone();
        Case { file, damage: Damage::of(&bytes, &mut chance) }
    });
    let cases: Vec<_> = cases.collect();
    println!("bytes of {agent}: seed {}, {} files, {} copies", seed(), files.len(), cases.len());
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let location = dir.path().join("session.jsonl");
    run_all(cases, move |case| try_one(agent, &location, case));
}

fn try_one(agent: &str, location: &Path, case: &Case) -> Result<(), String> {
    let bytes = case.damage.apply(&std::fs::read(&case.file).unwrap());
    std::fs::write(location, &bytes).unwrap();
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let engine = engine.with_agent_formats(forklore::formats::AGENT_FORMATS);
    let options = ImportOptions::in_workspace(Workspace::new("/here"));
    let options = ImportOptions { from: Some(agent.into()), ..options };
    let report = Importer::new(&engine)
        .import(&[location.to_owned()], &options, &mut |_| {})
        .map_err(|error| format!("the import failed: {error}"))?;
    every_bad_line_is_reported(&bytes, &report)?;
    let Some(session) = report.sessions.first() else {
        // A file without a readable record yields no session, and counts as skipped.
        let problem = !report.problems.is_empty() || report.skipped > 0;
        return if problem { Ok(()) } else { Err("nothing was read, and nothing told".into()) };
    };
    let mut restored = Vec::new();
    engine
        .restore(&session.session_id, &mut restored)
        .map_err(|error| format!("the restore failed: {error}"))?;
    if restored != bytes {
        return Err(format!("{} of {} bytes came back", restored.len(), bytes.len()));
    }
    let problems = engine.verify(None).map_err(|error| error.to_string())?.problems;
    if problems.is_empty() { Ok(()) } else { Err(format!("{problems:?}")) }
}

/// Checks that the report names each line that is not a JSON object, with an offset inside that
/// line.
fn every_bad_line_is_reported(bytes: &[u8], report: &ImportReport) -> Result<(), String> {
    let reported: BTreeSet<(u64, u64)> = report
        .problems
        .iter()
        .filter_map(|problem| Some((problem.line?, problem.offset?)))
        .collect();
    if report.problems.iter().any(|problem| problem.kind == ProblemKind::More) || report.files == 0
    {
        return Ok(());
    }
    let mut from = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let to = from + line.len() as u64;
        if !is_good(line)
            && !reported.iter().any(|(at, byte)| *at == number && (from..to).contains(byte))
        {
            let text = String::from_utf8_lossy(line);
            return Err(format!("line {number} at byte {from} is not told: {text:.200}"));
        }
        from = to;
    }
    Ok(())
}

/// Checks whether a line is valid: a JSON object in UTF-8, or blank.
fn is_good(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    let is_object =
        || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok() && line.starts_with(b"{");
    line.is_empty() || is_object() && std::str::from_utf8(line).is_ok()
}

#[test]
fn pi() {
    sweep("pi", 8_000);
}

#[test]
fn claude() {
    sweep("claude", 7_600);
}

#[test]
fn plain() {
    sweep("plain", 3_000);
}
