//! `verify --anchors`: compares the store with the heads that `anchor` wrote.

use std::path::Path;

use forklore::api::{AnchorReport, AnchorState};
use forklore::core::ErrorKind;
use forklore::engine::AnchorOptions;

use super::super::anchor;
use super::show_problems;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};

pub(super) fn run(
    file: &Path,
    key: &anchor::Key,
    exact: bool,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let anchors = anchor::read(file)?;
    let options = AnchorOptions { key: key.read()?, exact };
    let report = app.engine()?.check_anchors(&anchors, &options)?;
    let failure = failure(&report);
    output.answer_with(&report, |page| show(page, &report), failure.as_ref())?;
    if options.key.is_none() && anchors.iter().any(|anchor| anchor.hmac.is_some()) {
        output.hint("forklore verify --anchors FILE --key FILE", "check the signatures too");
    }
    if failure.is_none() {
        return Ok(());
    }
    output.hint("forklore verify --repair OUT", "save what can be read into a new store");
    Err(Failure::Answered(ErrorKind::Corrupt))
}

/// Returns the failure that the first result is, if one is not sound.
fn failure(report: &AnchorReport) -> Option<Failure> {
    let differs = report.checks.iter().find(|check| !check.sound);
    let differs = differs.map(|check| format!("{}: {}", check.session_id, check.message));
    let damaged = report.verification.problems.first().map(|problem| problem.message.clone());
    differs.or(damaged).map(|first| {
        let found = count(problems(report), "problem");
        let message = format!("the store has {found}: {first}");
        Failure::refused(ErrorKind::Corrupt, message).or_try("forklore verify --repair OUT")
    })
}

fn problems(report: &AnchorReport) -> u64 {
    report.differ + report.verification.problems.len() as u64
}

fn show(page: &mut Page, report: &AnchorReport) {
    for check in report.checks.iter().filter(|check| check.state != AnchorState::Holds) {
        let tone = if check.sound { Tone::Dim } else { Tone::Bad };
        page.put(tone, word(check.state)).put(Tone::Plain, "  ");
        page.put(Tone::Id, &check.session_id).put(Tone::Plain, "  ");
        page.put(Tone::Plain, &check.message);
        if let Some(line) = check.line {
            page.put(Tone::Dim, format!("  (anchor {line}, seq {})", check.seq));
        }
        page.end();
    }
    show_problems(page, &report.verification.problems);
    let anchors = report.checks.iter().filter(|check| check.line.is_some()).count() as u64;
    let signed = if report.signed { ", and their signatures were checked" } else { "" };
    let holds = format!("{} of {} hold{signed}", report.holds, count(anchors, "anchor"));
    match problems(report) {
        0 => page.put(Tone::Good, "All is well: ").put(Tone::Plain, holds).end(),
        number => {
            page.put(Tone::Bad, count(number, "problem"));
            page.put(Tone::Plain, format!(": {holds}")).end()
        }
    };
}

fn word(state: AnchorState) -> &'static str {
    match state {
        AnchorState::Holds => "holds",
        AnchorState::Deleted => "deleted",
        AnchorState::Erased => "erased",
        AnchorState::Edited => "edited",
        AnchorState::HeaderEdited => "header edited",
        AnchorState::Truncated => "truncated",
        AnchorState::RolledBack => "rolled back",
        AnchorState::Missing => "missing",
        AnchorState::Damaged => "damaged",
        AnchorState::Forged => "forged",
        AnchorState::Grown => "grown",
        AnchorState::Changed => "changed",
        AnchorState::Unanchored => "unanchored",
        AnchorState::Unfinished => "unfinished",
    }
}
