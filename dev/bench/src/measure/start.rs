//! Measures what a user waits for: the start of the program on a store with many sessions.

use std::fs;
use std::path::Path;

use forklore::core::Usage;
use forklore::core::workspace::Workspace;
use forklore::core::{Event, payload};
use forklore::prelude::*;
use forklore::store::port::{Filter, NewSession};

use super::newest;
use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal};
use crate::process::Program;
use crate::samples::{Rival, in_turns};
use crate::scene::{Bed, Scene, extend, message};
use crate::thousands::grouped;

/// The number of workspaces that the sessions are spread over.
const WORKSPACES: usize = 100;

/// One session in this many is a fork of the session created before it.
const FORKS: usize = 10;

/// The number of events of the long session, on which the command `forklore log` is measured.
const LONG: usize = 10_000;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let folders = scene.folder()?;
    let sessions = scene.sizes.sessions;
    let (bed, long) = scene.store(|engine| fill(engine, folders.path(), sessions))?;
    check(&bed, sessions)?;
    let listed = newest::measure(scene, &bed, sessions)?;
    let program = Program::forklore(&folders.path().join("0"))?;
    // The store is closed first, so that the measured programs do the full work of opening it.
    let files = bed.close();
    let store = format!("--store={}", files.url());
    let id = long.as_str();
    let commands: [(&str, Vec<&str>); 4] = [
        ("show", vec![&store, "show", id]),
        ("log", vec![&store, "log", id]),
        ("list", vec![&store, "list"]),
        ("list --all", vec![&store, "--all", "list"]),
    ];
    let mut rivals: Vec<Rival<'_>> = vec![Box::new(|| program.run(&["--version"]))];
    for (name, args) in &commands {
        let program = &program;
        rivals.push(match *name {
            "log" => Box::new(move || program.first_line(args)),
            _ => Box::new(move || program.run(args)),
        });
    }
    let mut samples = in_turns(scene.sizes.starts, &mut rivals)?.into_iter();
    let version = samples.next().unwrap_or_default();
    let figures = commands.iter().zip(samples).map(|((name, _), took)| {
        let part = if *name == "log" { " to its first line" } else { "" };
        let sessions = grouped(sessions);
        let what = format!("`forklore {name}`{part}, {sessions} sessions, against `--version`");
        let goal = Goal::AtMost(if *name == "show" { 3.0 } else { 5.0 });
        Figure::ratio(what, goal, &version, &took)
    });
    Ok(figures.chain([listed]).collect())
}

/// Creates sessions of one turn each in several workspaces, and one long session in the first
/// workspace. Returns the long session.
pub(super) fn fill(engine: &Engine, folders: &Path, sessions: usize) -> Result<SessionId> {
    let mut workspaces = Vec::new();
    for number in 0..WORKSPACES {
        let folder = folders.join(number.to_string());
        fs::create_dir(&folder).doing("cannot make", &folder)?;
        let folder = folder.canonicalize().doing("cannot find", &folder)?;
        workspaces.push(Workspace::new(&folder.to_string_lossy()));
    }
    let mut last = None;
    for (number, workspace) in (1..sessions).zip(workspaces.iter().cycle()) {
        last = match last {
            Some(parent) if number % FORKS == 0 => {
                Some(engine.fork(&Fork::of(parent))?.child_session_id)
            }
            _ => Some(create(engine, workspace, number)?),
        };
    }
    let home = workspaces.into_iter().next().unwrap_or_else(|| Workspace::new("/"));
    let long = engine.create(&Create::in_workspace(home))?.id;
    extend(engine, &long, 0..LONG)?;
    Ok(long)
}

/// Creates a root session with its first turn (a question and its answer), in one transaction.
fn create(engine: &Engine, workspace: &Workspace, number: usize) -> Result<SessionId> {
    let created = engine.now();
    let turn = [message(0)?, message(1)?];
    let events = turn.into_iter().map(|new| stored(new, created)).collect::<Result<Vec<_>>>()?;
    let id: SessionId = format!("session-{number:06}").parse()?;
    let new = NewSession {
        id,
        kind: SessionKind::Root,
        label: Label::main(),
        title: Some(format!("Session number {number}")),
        workspace: workspace.clone(),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: None,
        source: None,
        copy_of: None,
        created,
        from: None,
        events,
        usage: Usage::default(),
    };
    Ok(engine.store().create(new)?.id)
}

/// Converts a new event, as callers pass it to an append, into the form in which a store contains
/// it. The time of the result is `ts`.
fn stored(new: NewEvent, ts: jiff::Timestamp) -> Result<Event> {
    let (class, effect) = payload::check(&new.kind, None, &new.data)
        .map_err(|error| Error::Wrong(error.to_string()))?;
    let id = "message".parse()?;
    Ok(Event { id, ts, kind: new.kind, class, dialect: None, effect, data: new.data })
}

/// Checks that the store contains `sessions` sessions, the number that the results state.
fn check(bed: &Bed, sessions: usize) -> Result<()> {
    let filter = Filter::default();
    let stored_sessions = bed.engine.store().sessions(&filter, None, 0)?.all()?.len();
    if stored_sessions == sessions {
        return Ok(());
    }
    Err(Error::Wrong(format!(
        "{} holds {stored_sessions} sessions, not {sessions}",
        bed.files().file().display()
    )))
}
