//! Creates damaged copies of a file, and checks that a reader reports the damage or returns correct
//! data.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use forklore::Engine;
use forklore::core::{ErrorKind, SessionId};
use forklore::engine::{Error, ListRequest, TreeRequest};
use forklore::store::port::Problem;

use crate::golden::{self, Answers};
use crate::soak::Chance;

/// The time limit for reading one damaged copy of a file. A read that takes longer counts as a
/// hang.
const HANGS: Duration = Duration::from_secs(500);

/// One way to damage a file in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The file is truncated to this length in bytes.
    Cut(usize),
    /// Bits of one byte are flipped: the byte at this offset (first field), the bits that are set
    /// in this mask (second field).
    Flip(usize, u8),
    /// Two lines of the file change places. Lines are numbered from 0.
    Swapped(usize, usize),
    /// A line (second field) is replaced by a copy of another one (first field).
    Doubled(usize, usize),
}

impl Damage {
    /// Picks a random way to damage `bytes`. One in five is a truncation, the others flip bits.
    /// Flips mostly hit nonzero bytes, because much of a database is unused space, which is zero.
    pub fn of(bytes: &[u8], chance: &mut Chance) -> Self {
        let mut location = || usize::try_from(chance.below(bytes.len() as u64)).unwrap_or(0);
        let mut at = location();
        for _ in 0..8 {
            if bytes.get(at).is_some_and(|byte| *byte != 0) {
                break;
            }
            at = location();
        }
        if chance.below(5) == 0 {
            return Self::Cut(at);
        }
        let bits = if chance.below(2) == 0 { 1 << chance.below(8) } else { 1 + chance.below(255) };
        Self::Flip(at, u8::try_from(bits).unwrap_or(1))
    }

    /// Picks a random way to damage a file of a store. Like [`Damage::of`], but in a file of lines,
    /// one in three is a line in a wrong place: each line is then sound by itself.
    pub fn of_stored(bytes: &[u8], chance: &mut Chance) -> Self {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        if !bytes.starts_with(b"{") || lines < 2 || chance.below(3) > 0 {
            return Self::of(bytes, chance);
        }
        let mut line = || usize::try_from(chance.below(lines)).unwrap_or(0);
        let (one, other) = (line(), line());
        if chance.below(2) == 0 { Self::Swapped(one, other) } else { Self::Doubled(one, other) }
    }

    /// Returns a copy of `bytes` that is damaged in this way.
    #[must_use]
    pub fn apply(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Cut(len) => bytes.get(..len).unwrap_or(bytes).to_vec(),
            Self::Flip(at, bits) => {
                let mut copy = bytes.to_vec();
                if let Some(byte) = copy.get_mut(at) {
                    *byte ^= bits;
                }
                copy
            }
            Self::Swapped(one, other) => {
                let mut lines = lines(bytes);
                lines.swap(one, other);
                lines.concat()
            }
            Self::Doubled(from, to) => {
                let mut lines = lines(bytes);
                lines[to] = lines[from];
                lines.concat()
            }
        }
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Runs the function `case` on each of `cases`, one after the other. Stops at the first case that
/// fails, panics or hangs.
///
/// # Panics
/// If a case fails, panics, or exceeds the time limit. The message names that case; for a hang it
/// names the preceding case.
pub fn run_all<C: Clone + std::fmt::Debug + Send + 'static>(
    cases: Vec<C>,
    case: impl Fn(&C) -> Result<(), String> + Send + 'static,
) {
    let (tell, reported) = channel();
    let worker = std::thread::spawn(move || {
        for one in cases {
            let done = catch_unwind(AssertUnwindSafe(|| case(&one)));
            let done = done.unwrap_or_else(|_| Err("it panicked".into()));
            let failed = done.is_err();
            if tell.send((one, done)).is_err() || failed {
                return;
            }
        }
    });
    let mut last = None;
    loop {
        match reported.recv_timeout(HANGS) {
            Ok((one, Ok(()))) => last = Some(one),
            Ok((one, Err(failure))) => panic!("{one:?}: {failure}"),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("the case behind {last:?} hangs"),
        }
    }
    worker.join().expect("the worker ends with its cases");
}

/// How many damaged stores were opened and read, by outcome. For the summary that a test prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of damaged stores that could not be opened at all.
    pub refused: u64,
    /// The number of damaged stores that reported the damage in at least one answer.
    pub damaged: u64,
    /// The number of damaged stores that gave the same answers as before the damage.
    pub unharmed: u64,
}

/// Reads a damaged store that could be opened, and compares each answer with the expected one.
/// Returns `true` if an answer reported the damage, and `false` if every answer was as expected.
/// `file` is the file that was damaged.
///
/// # Errors
/// A description of the failure: data that changed or vanished without an error, or damage that
/// `verify` does not attribute to a session or to `file`.
pub fn read(engine: &Engine, expected: &Answers, file: &Path) -> Result<bool, String> {
    let mut missed = Vec::new();
    let listed = list(engine, &mut missed)?;
    for id in expected.headers.keys() {
        let session: SessionId = id.parse().map_err(|_| "a bad id")?;
        compare(id, "header", golden::shown(engine, &session), &expected.headers[id], &mut missed)?;
        if let Some(log) = expected.logs.get(id) {
            compare(id, "log", golden::log(engine, &session), log, &mut missed)?;
            if listed.as_ref().is_some_and(|listed| !listed.contains(&session)) {
                missed.push(format!("{id} is not listed"));
            }
        }
        if let Some(file) = expected.restored.get(id) {
            compare(id, "restore", golden::restored(engine, &session), file, &mut missed)?;
        }
    }
    let problems = match engine.verify(None) {
        Ok(report) => report.problems,
        Err(error) => vec![named(&error, "verify")?],
    };
    if missed.is_empty() {
        return Ok(false);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let names =
        |problem: &Problem| problem.session_id.is_some() || problem.message.contains(&*name);
    if problems.iter().any(names) {
        return Ok(true);
    }
    Err(format!("verify finds nothing, or names nothing, but: {missed:?}; it says {problems:?}"))
}

/// Returns the sessions that `Engine::list` finds, or `None` if it reported a problem. Also calls
/// `Engine::tree` and `Engine::stats`. Adds the problems that any of the three reports to `missed`.
fn list(engine: &Engine, missed: &mut Vec<String>) -> Result<Option<Vec<SessionId>>, String> {
    let request = |kind| ListRequest { kind, ..ListRequest::default() };
    let mut listed = Vec::new();
    let mut all_reported = true;
    for kind in [None, Some(forklore::core::SessionKind::Delegate)] {
        match engine.list(&request(kind)) {
            Ok(listing) => {
                missed.extend(listing.problems.iter().map(|problem| problem.message.clone()));
                all_reported &= listing.problems.is_empty();
                listed.extend(listing.sessions.into_iter().map(|header| header.id));
            }
            Err(error) => {
                missed.push(named(&error, "list")?.message);
                all_reported = false;
            }
        }
    }
    match engine.tree(&TreeRequest::default()) {
        Ok(trees) => missed.extend(trees.problems.into_iter().map(|problem| problem.message)),
        Err(error) => missed.push(named(&error, "tree")?.message),
    }
    match engine.stats(None) {
        Ok(stats) => missed.extend(stats.problems.into_iter().map(|problem| problem.message)),
        Err(error) => missed.push(named(&error, "stats")?.message),
    }
    // Problems that `list` reports are already in `missed`, so the caller need not check for
    // missing sessions.
    Ok(all_reported.then_some(listed))
}

fn compare<T: PartialEq + std::fmt::Debug>(
    id: &str,
    what: &str,
    answer: Result<T, Error>,
    expected: &T,
    missed: &mut Vec<String>,
) -> Result<(), String> {
    match answer {
        Ok(answer) if answer == *expected => Ok(()),
        Ok(answer) => {
            let (is, was) = (format!("{answer:?}"), format!("{expected:?}"));
            let at = is.bytes().zip(was.bytes()).take_while(|(is, was)| is == was).count();
            let around = |text: &str| {
                let from = at.saturating_sub(60);
                text.chars().skip(from).take(160).collect::<String>()
            };
            Err(format!(
                "the {what} of {id} changed without a word: ...{}... was ...{}...",
                around(&is),
                around(&was)
            ))
        }
        Err(error) => {
            missed.push(named(&error, what)?.message);
            Ok(())
        }
    }
}

/// Converts an error of the operation `what` into a problem of the store. Returns `Err` if the
/// error's kind does not clearly indicate damage.
fn named(error: &Error, what: &str) -> Result<Problem, String> {
    let kind = error.kind();
    let clear = matches!(
        kind,
        ErrorKind::Corrupt
            | ErrorKind::MissingAncestor
            | ErrorKind::LineageCycle
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Unsupported
    );
    if !clear {
        return Err(format!("{what} failed in an unclear way: {kind} {error}"));
    }
    Ok(Problem {
        session_id: None,
        seq: None,
        attachment: None,
        kind,
        message: format!("{what}: {error}"),
    })
}
