//! `gc --policy`: deletes and erases by the user's policy, or lists what it would do.

use forklore::api::{AppliedRetention, ApplyRetention, DueSession, SpareReason, SparedSession};

use crate::app::App;
use crate::commands::confirm::confirm;
use crate::failure::{Failure, Result};
use crate::output::{Cell, Column, Output, Page, Table, Tone, age, bytes, count};
use crate::wiring;

const EXAMPLE: &str = "add to the configuration file: [retention] with delete_after_days = 180, see forklore gc --help";

pub(super) fn run(dry_run: bool, yes: bool, app: &App, output: &mut Output) -> Result<()> {
    let configured = wiring::configured(app, output)?;
    let Some(policy) = configured.config.retention else {
        let path = configured.path.display();
        return Err(Failure::invalid(format!("there is no [retention] in {path}")).or_try(EXAMPLE));
    };
    let engine = app.engine()?;
    let plan = ApplyRetention { policy, dry_run: true };
    if !dry_run && !yes && output.can_ask() {
        let planned = engine.apply_retention(&plan)?;
        if let Some(question) = question(&planned) {
            confirm(&question, yes, output)?;
        }
    }
    let answer = engine.apply_retention(&ApplyRetention { dry_run, ..plan })?;
    output.answer(&answer, |page| show(page, &answer))?;
    if dry_run && !(answer.deleted.is_empty() && answer.erased.is_empty()) {
        output.hint("forklore gc --policy", "do this");
    } else if !answer.deleted.is_empty() {
        output.hint("forklore list --deleted --all", "show the trash");
    }
    Ok(())
}

/// Returns the question to ask before sessions go. `None` if none goes.
fn question(planned: &AppliedRetention) -> Option<String> {
    let deleted = count(planned.deleted.len() as u64, "session");
    let erased = count(planned.erased.len() as u64, "session");
    match (planned.deleted.is_empty(), planned.erased.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("Put {deleted} into the trash?")),
        (true, false) => Some(format!("Erase {erased}? Nothing brings them back.")),
        (false, false) => Some(format!(
            "Put {deleted} into the trash, and erase {erased} of it? Nothing brings those back."
        )),
    }
}

fn show(page: &mut Page, answer: &AppliedRetention) {
    let look = page.look();
    let age = |due: &DueSession| age(look, due.since);
    let [goes, is_erased] = match answer.dry_run {
        true => ["would go into the trash", "would be erased"],
        false => ["went into the trash", "was erased"],
    };
    let mut table = Table::new(&[
        Column::new("SESSION"),
        Column::new("LABEL"),
        Column::new("WHAT"),
        Column::new("WHY").gives_way(),
    ]);
    for due in &answer.deleted {
        let why = match &due.with {
            Some(parent) => format!("sub-agent of {parent}"),
            None => format!("last changed {}", age(due)),
        };
        row(&mut table, (&due.session_id.to_string(), due.label.as_str()), goes, Tone::Warn, why);
    }
    for due in &answer.erased {
        let why = format!("deleted {}", age(due));
        let names = (&*due.session_id.to_string(), due.label.as_str());
        row(&mut table, names, is_erased, Tone::Bad, why);
    }
    for spared in &answer.spared {
        let names = (&*spared.session_id.to_string(), spared.label.as_str());
        row(&mut table, names, "stays", Tone::Good, reason(spared));
    }
    if answer.deleted.is_empty() && answer.erased.is_empty() && answer.spared.is_empty() {
        page.put(Tone::Plain, "The policy applies to no session.").end();
    } else {
        table.show(page);
    }
    if let Some(freed) = answer.collected.filter(|freed| freed.freed_bytes > 0) {
        page.put(Tone::Good, "Freed ").put(Tone::Plain, bytes(freed.freed_bytes)).end();
    }
}

fn row(table: &mut Table, (id, label): (&str, &str), what: &str, tone: Tone, why: String) {
    table.row([
        Cell::new(Tone::Id, id),
        Cell::new(Tone::Plain, label),
        Cell::new(tone, what),
        Cell::new(Tone::Dim, why),
    ]);
}

fn reason(spared: &SparedSession) -> String {
    let other = spared.because_of.as_ref();
    match (spared.reason, other) {
        (SpareReason::Labelled, None) => "somebody gave it a label".to_owned(),
        (SpareReason::Labelled, Some(other)) => format!("its sub-agent {other} has a label"),
        (SpareReason::Running, None) => "it is running".to_owned(),
        (SpareReason::Running, Some(other)) => format!("its sub-agent {other} is running"),
        (SpareReason::Changed, Some(other)) => format!("its sub-agent {other} changed since"),
        (SpareReason::HasChildren, Some(other)) => format!("its branch {other} stays"),
        (SpareReason::Changed | SpareReason::HasChildren | SpareReason::Refused, _) => {
            "it changed, or could not be deleted".to_owned()
        }
    }
}
