//! The log of operations, `operations.jsonl` (docs/semantics.md, Operations).

use std::collections::HashSet;

use forklore_core::SessionId;
use forklore_store::disk::os;
use forklore_store::port::{Operation, OperationId, Operations, Outcome};
use forklore_store::rules::{Outcomes, RETAINED_OPERATIONS, Recorded, mark_undone};
use forklore_store::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::fs::Open;
use crate::line;
use crate::line::sealed;
use crate::lines::Lines;
use crate::log::damage;
use crate::record::VERSION;

/// Maximum number of times that the log is read. It is read again if a line cannot be read, because
/// another process may be writing that line.
const TRIES: usize = 3;

/// A line of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// The first line: the version of the store, and the number `used`. No new operation gets a
    /// number up to `used`.
    First { forklore: u32, used: OperationId },
    /// A recorded operation.
    New { operation: Operation },
    /// What a later step of an import did.
    More { continues: OperationId, outcomes: Vec<Outcome> },
}

/// The operations of a store, the oldest first.
#[derive(Debug, Default)]
struct Loaded {
    operations: Vec<Operation>,
    damaged: Vec<Error>,
    /// The greatest number that an operation in the log may have. Each damaged line counts as one
    /// operation.
    used: u64,
}

impl Loaded {
    fn get(&mut self, id: OperationId) -> Option<&mut Operation> {
        let at = self.operations.binary_search_by_key(&id, |operation| operation.id).ok()?;
        self.operations.get_mut(at)
    }

    fn mark_undone(&mut self, undone: OperationId, by: OperationId) -> Result<()> {
        mark_undone(undone, by, |id, change| Ok::<_, Error>(self.get(id).map(change).is_some()))
    }

    /// Removes the labels and titles of erased sessions. Returns whether there were any.
    fn forget_names_of(&mut self, erased: &HashSet<&SessionId>) -> bool {
        let outcomes = self.operations.iter_mut().flat_map(|operation| &mut operation.outcomes);
        let of_erased = outcomes.filter(|outcome| erased.contains(outcome.session()));
        of_erased.fold(false, |any, outcome| outcome.forget() | any)
    }

    fn write(&self, folder: &Folder) -> Result<()> {
        let mut whole = first(OperationId(self.used))?;
        for operation in &self.operations {
            whole.push_str(&sealed(&Line::New { operation: operation.clone() })?);
        }
        folder.put(&folder.layout.operations(), whole.as_bytes())
    }
}

fn first(used: OperationId) -> Result<String> {
    sealed(&Line::First { forklore: VERSION, used })
}

fn parsed(line: &[u8]) -> std::result::Result<Line, String> {
    let text = line::checked(line)?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn load(folder: &Folder) -> Result<Loaded> {
    let path = folder.layout.operations();
    let mut loaded = Loaded::default();
    let Some(file) = folder.open(&path, Open::Read)? else { return Ok(loaded) };
    let len = file.len().map_err(os("reading", &path))?;
    let (mut lines, mut at) = (Lines::of(&*file), 0);
    let mut merging: Option<(OperationId, Outcomes)> = None;
    while let Some(line) = lines.forward(at, len).map_err(os("reading", &path))? {
        let next = at + line.len() as u64;
        match parsed(line) {
            Ok(Line::First { used, .. }) => loaded.used = loaded.used.max(used.0),
            Ok(Line::New { mut operation }) => {
                loaded.used = loaded.used.max(operation.id.0);
                operation.undone_by = None;
                let (id, undoes) = (operation.id, operation.undoes);
                loaded.operations.push(operation);
                if let Some(undone) = undoes {
                    // The operation that it undid may not be retained any more.
                    let _ = loaded.mark_undone(undone, id);
                }
            }
            Ok(Line::More { continues, outcomes }) => {
                if merging.as_ref().is_none_or(|(id, _)| *id != continues) {
                    put_back(&mut loaded, merging.take());
                    merging = loaded.get(continues).map(|operation| {
                        let mut all = Outcomes::default();
                        all.extend(std::mem::take(&mut operation.outcomes));
                        (continues, all)
                    });
                }
                if let Some((_, all)) = &mut merging {
                    all.extend(outcomes);
                }
            }
            // The line may have been the record of an operation.
            Err(wrong) => {
                loaded.used += 1;
                loaded.damaged.push(damage(&path, at, &wrong));
            }
        }
        at = next;
    }
    put_back(&mut loaded, merging);
    Ok(loaded)
}

fn put_back(loaded: &mut Loaded, merged: Option<(OperationId, Outcomes)>) {
    if let Some((id, all)) = merged
        && let Some(operation) = loaded.get(id)
    {
        operation.outcomes = all.into_vec();
    }
}

/// Returns the operations whose number is less than `before` (`None` means all), the newest first.
/// Returns at most `limit`, or all if `limit` is 0. `reading` completes a change that a killed
/// process left, and returns the folder.
pub(crate) fn page<'f>(
    reading: impl Fn() -> Result<&'f Folder>,
    before: Option<OperationId>,
    limit: usize,
) -> Result<Operations> {
    let mut loaded = load(reading()?)?;
    for _ in 1..TRIES {
        if loaded.damaged.is_empty() {
            break;
        }
        loaded = load(reading()?)?;
    }
    let mut found = loaded.operations;
    found.retain(|operation| before.is_none_or(|before| operation.id < before));
    found.reverse();
    let limit = if limit == 0 { usize::MAX } else { limit };
    let more = found.len() > limit;
    found.truncate(limit);
    Ok(Operations { found, damaged: loaded.damaged, more })
}

/// Returns the errors of the lines of the log that cannot be read.
pub(crate) fn damaged(folder: &Folder) -> Result<Vec<Error>> {
    Ok(load(folder)?.damaged)
}

/// Records what a transaction did: as a new operation, or as a further step of an import. Returns
/// the number of the operation.
pub(crate) fn record(folder: &Folder, recorded: Recorded<'_>) -> Result<OperationId> {
    if let Some(continues) = recorded.operation.continues {
        let outcomes = recorded.outcomes;
        add_line(folder, &Line::More { continues, outcomes })?;
        return Ok(continues);
    }
    let id = match recorded.operation.undoes {
        Some(undone) => {
            let mut loaded = load(folder)?;
            let id = OperationId(loaded.used + 1);
            loaded.mark_undone(undone, id)?;
            id
        }
        None => OperationId(used(folder)? + 1),
    };
    let operation = recorded.into_operation(id, folder.clock.now());
    add_line(folder, &Line::New { operation })?;
    Ok(id)
}

/// Returns a number that is at least the greatest used operation number. Reads only the beginning
/// and the end of the log.
fn used(folder: &Folder) -> Result<u64> {
    let path = folder.layout.operations();
    let Some(file) = folder.open(&path, Open::Read)? else { return Ok(0) };
    let mut end = file.len().map_err(os("reading", &path))?;
    let mut lines = Lines::of(&*file);
    let mut damaged = 0;
    while let Some((at, line)) = lines.backward(0, end).map_err(os("reading", &path))? {
        match parsed(line) {
            Ok(Line::New { operation }) => {
                let (newest, first) = (operation.id.0, used_before(&*file).unwrap_or_default());
                return Ok(newest.max(first) + damaged);
            }
            Ok(Line::First { used, .. }) => return Ok(used.0 + damaged),
            Ok(Line::More { .. }) => {}
            Err(_) => damaged += 1,
        }
        end = at;
    }
    Ok(damaged)
}

/// Returns the number in the first line of the log; `None` if it cannot be read.
fn used_before(file: &dyn crate::fs::File) -> Option<u64> {
    let len = file.len().ok()?;
    match parsed(Lines::of(file).forward(0, len).ok()??) {
        Ok(Line::First { used, .. }) => Some(used.0),
        _ => None,
    }
}

fn add_line(folder: &Folder, line: &Line) -> Result<()> {
    let path = folder.layout.operations();
    if folder.open(&path, Open::Read)?.is_none() {
        folder.put(&path, first(OperationId::default())?.as_bytes())?;
    }
    let file = folder.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
    let end = file.len().map_err(os("reading", &path))?;
    let mut last = [b'\n'];
    file.read_at(&mut last, end.saturating_sub(1)).map_err(os("reading", &path))?;
    // After damage, the last line may have no end. It must not make this one unreadable.
    let text = if last == *b"\n" { sealed(line)? } else { format!("\n{}", sealed(line)?) };
    folder.write(&*file, &path, text.as_bytes(), end)?;
    folder.sync(&*file, &path)
}

/// Removes the labels and titles of erased sessions from the log.
pub(crate) fn forget_names_of(folder: &Folder, erased: &HashSet<&SessionId>) -> Result<()> {
    let mut loaded = load(folder)?;
    // A damaged record may contain names too. `gc` erases it.
    if loaded.damaged.is_empty() && loaded.forget_names_of(erased) {
        loaded.write(folder)?;
    }
    Ok(())
}

/// Removes all operations except the newest `RETAINED_OPERATIONS`. Also erases damaged records,
/// because they may contain labels or titles of erased sessions.
pub(crate) fn collect(folder: &Folder) -> Result<()> {
    let mut loaded = load(folder)?;
    let old = loaded.operations.len().saturating_sub(RETAINED_OPERATIONS);
    let erased = if loaded.damaged.is_empty() { HashSet::new() } else { erased(folder)? };
    if old == 0 && loaded.damaged.is_empty() {
        return Ok(());
    }
    loaded.operations.drain(..old);
    loaded.forget_names_of(&erased.iter().collect());
    loaded.write(folder)
}

/// Returns the erased sessions. Their labels and titles are still in the log if a line of the log
/// was damaged when they were erased.
fn erased(folder: &Folder) -> Result<HashSet<SessionId>> {
    let sessions = folder.survey()?.sessions.into_iter();
    let erased = sessions.filter(|session| session.header.is_erased());
    Ok(erased.map(|session| session.header.id).collect())
}
