//! What `push`, `pull`, `clone` and `handoff` have in common: the transfer with its progress, and
//! the output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forklore::Engine;
use forklore::core::ErrorKind;
use forklore::engine::{SkipReason, Transfer, TransferState, Transferred};

use crate::failure::{Failure, Result};
use crate::interrupts;
use crate::output::{Output, Page, Tone, count};

/// The most sessions that are shown, one line each.
const MOST_LINES: usize = 20;

/// Returns the name of this machine.
pub(super) fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// Copies sessions, and shows the progress. Ctrl-C ends the copy after the present batch.
pub(super) fn copy(
    from: &Engine,
    into: &Engine,
    request: &Transfer,
    output: &mut Output,
) -> Result<Transferred> {
    let stop = Arc::new(AtomicBool::new(false));
    let _ended = interrupts::gently(&stop, || {})?;
    let bar = output.progress();
    Ok(from.transfer(into, request, &mut |progress| {
        bar.families(&progress);
        !stop.load(Ordering::Relaxed)
    })?)
}

/// Prints what a transfer did.
pub(super) fn answer(done: &Transferred, output: &mut Output) -> Result<()> {
    let failure = failure(done);
    output.answer_with(done, |page| show(page, done), failure.as_ref())?;
    failure.map_or(Ok(()), |failure| Err(Failure::Answered(failure.kind())))
}

/// Returns why a transfer is incomplete, if it is.
pub(super) fn failure(done: &Transferred) -> Option<Failure> {
    if done.interrupted {
        let message = "interrupted; the same command completes it";
        return Some(Failure::refused(ErrorKind::Interrupted, message));
    }
    let failed = done.skipped.iter().find(|skipped| skipped.why == SkipReason::Failed)?;
    let message = format!("session {} was not copied: {}", failed.session_id, failed.reason);
    Some(Failure::refused(ErrorKind::Corrupt, message))
}

/// Shows what a transfer did, one line for each session.
pub(super) fn show(page: &mut Page, done: &Transferred) {
    for session in done.sessions.iter().take(MOST_LINES) {
        let (tone, state) = match session.state {
            TransferState::Created => (Tone::Good, "new"),
            TransferState::Continued => (Tone::Good, "continued"),
            TransferState::Parted => (Tone::Bad, "parted"),
        };
        page.put(tone, format!("{state:9}  ")).put(Tone::Id, &session.target_id);
        page.put(Tone::Plain, "  ").put(Tone::Label, &session.label);
        if session.target_id != session.session_id {
            page.put(Tone::Plain, "  of ").put(Tone::Id, &session.session_id);
        }
        page.put(Tone::Dim, format!("  {}", count(session.events, "event"))).end();
    }
    let others = done.sessions.len().saturating_sub(MOST_LINES);
    if others > 0 {
        page.put(Tone::Dim, format!("and {} more", count(others as u64, "session"))).end();
    }
    for skipped in &done.skipped {
        // The sessions of an imported file that was not copied are there all the same.
        let (tone, state, what) = match skipped.why {
            SkipReason::Source => (Tone::Warn, "no file    ", "its imported file was not copied: "),
            _ => (Tone::Bad, "skipped    ", ""),
        };
        page.put(tone, state).put(Tone::Id, &skipped.session_id);
        page.put(Tone::Plain, "  ").put(Tone::Plain, what).put(Tone::Plain, &skipped.reason).end();
    }
    let verb = if done.dry_run { "Would copy " } else { "Copied " };
    let copied = [
        (done.sessions.len() as u64, "session"),
        (done.events, "event"),
        (done.attachments, "attachment"),
        (done.sources, "imported file"),
    ];
    let copied = copied.into_iter().filter(|(number, _)| *number > 0);
    let copied: Vec<_> = copied.map(|(number, name)| count(number, name)).collect();
    if copied.is_empty() {
        page.put(Tone::Plain, "Nothing new");
    } else {
        page.put(Tone::Good, verb).put(Tone::Plain, copied.join(", "));
    }
    if done.redacted > 0 {
        let redacted = count(done.redacted, "event");
        page.put(Tone::Warn, format!("  {redacted} redacted, as in the other store"));
    }
    if done.unchanged > 0 {
        page.put(Tone::Dim, format!("  {} unchanged", count(done.unchanged, "session")));
    }
    page.end();
}
