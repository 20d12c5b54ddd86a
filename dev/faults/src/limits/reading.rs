//! Work on a store that the process may only read.

use forklore::Engine;
use forklore::engine::error::Result;
use forklore::engine::{Batch, Create, Delete, DeleteMode, Fork, NewEvent};
use forklore::import::{ImportOptions, Importer};
use forklore_conformance::scene::id;
use forklore_core::ErrorKind;
use forklore_core::workspace::Workspace;
use forklore_store::port::{At, Filter, Headers};

use crate::history::word;
use crate::process::{Task, tell};
use crate::work::TRUNK;

/// The verbs that write, in the order in which a test tries them on a store that is read-only.
pub const WRITES: [&str; 8] =
    ["new", "append", "fork", "label", "detach", "delete", "import", "gc"];

/// Opens a store that the process may only read, as a program that uses the library does. Prints
/// the contents of the store, one session per line. Then tries each verb that writes, and prints
/// its outcome on one line.
///
/// # Errors
/// If the store cannot be read.
pub fn read_only(task: &Task) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let engine = forklore::blocking::open(&task.kind.url(&task.store))?;
    for line in shown(&engine)? {
        tell(&line);
    }
    for verb in WRITES {
        tell(&match write(&engine, verb, task) {
            Ok(()) => format!("{verb} was done"),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                format!("{verb}: permission_denied")
            }
            Err(error) => format!("{verb}: {} {error}", word(error.kind())),
        });
    }
    Ok(())
}

/// Describes the contents of a store, one line per session. A line has the number of the session's
/// events and a checksum of their ids and payloads. The last line is the number of problems that
/// `verify` finds.
///
/// # Errors
/// If the store cannot be read.
pub fn shown(engine: &Engine) -> Result<Vec<String>> {
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = engine.store().sessions(&all, None, 0).and_then(Headers::all)?;
    let mut lines = Vec::new();
    for header in headers {
        let (mut events, mut sum) = (0_u64, 0_u64);
        if header.deleted.is_none() {
            for stored in engine.events(&header.id, At::Seq(0)) {
                let event = stored?.event;
                let bytes = event.id.as_str().bytes().chain(event.data.get().bytes());
                sum = bytes.fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
                events += 1;
            }
        }
        lines.push(format!("{} {} {events} {sum}", header.id, header.label));
    }
    let problems = engine.verify(None)?.problems;
    lines.push(format!("{} problems", problems.len()));
    Ok(lines)
}

fn write(engine: &Engine, verb: &str, task: &Task) -> Result<()> {
    let here = || Workspace::new("/here");
    let (trunk, child) = (id(TRUNK), id("child"));
    match verb {
        "new" => engine.create(&Create::in_workspace(here())).map(drop),
        "append" => {
            let batch = Batch::from(vec![NewEvent::user("more")?]);
            engine.append(&trunk, &batch).map(drop)
        }
        "fork" => engine.fork(&Fork::of(trunk)).map(drop),
        "label" => engine.label(&child, &"other".parse().expect("a label")).map(drop),
        "detach" => engine.detach(&child).map(drop),
        "delete" => {
            let mode = DeleteMode::DetachChildren;
            engine.delete(&Delete { session: child, mode, dry_run: false, erase: true }).map(drop)
        }
        "import" => {
            let paths: Vec<_> = task.file.iter().cloned().collect();
            Importer::new(engine)
                .import(&paths, &ImportOptions::in_workspace(here()), &mut |_| {})
                .map(drop)
        }
        _ => engine.gc().map(drop),
    }
}
