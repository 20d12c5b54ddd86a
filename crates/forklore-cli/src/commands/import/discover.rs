//! `import --discover`: lists the agents that have sessions on this machine, and how many of their
//! files are imported.

use std::path::PathBuf;

use forklore::Engine;
use forklore::api::{Discovery, FoundAgent, Survey};
use forklore::import::Importer;

use crate::agents;
use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, age, bytes, grouped};

pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    let found = found(app.engine()?, None)?;
    let unread = || found.iter().filter(|found| found.survey.to_read > 0);
    let all = agents::import_command(unread().flat_map(|found| &found.paths));
    let command = unread().next().map(|_| all);
    let answer = Discovery { agents: found, command };
    output.answer(&answer, |page| show(page, &answer))?;
    tell_next(&answer, output);
    Ok(())
}

/// Returns the paths where the agents on this machine store sessions, for an import without a path.
/// First shows users what was found. With `from`, returns only the paths of the agent whose format
/// is `from`.
pub(super) fn paths(from: Option<&str>, app: &App, output: &mut Output) -> Result<Vec<PathBuf>> {
    let answer = Discovery { agents: found(app.engine_or_empty()?, from)?, command: None };
    if !(output.is_json() || output.is_silent() || answer.agents.is_empty()) {
        output.page(|page| {
            show(page, &answer);
            page.end();
        })?;
        output.flush()?;
    }
    Ok(answer.agents.into_iter().flat_map(|agent| agent.paths).collect())
}

/// Returns the agents that have files on this machine with data that is not imported yet.
///
/// # Errors
/// If their folders or the store cannot be read.
pub(crate) fn unread(engine: &Engine) -> Result<Vec<FoundAgent>> {
    let mut found = found(engine, None)?;
    found.retain(|agent| agent.survey.to_read > 0);
    Ok(found)
}

/// Returns the agents that have sessions on this machine, or only the one whose format is `from`.
fn found(engine: &Engine, from: Option<&str>) -> Result<Vec<FoundAgent>> {
    let mut found = Vec::new();
    for home in agents::here().into_iter().filter(|it| from.is_none_or(|from| from == it.dialect)) {
        let survey = Importer::new(engine).survey(home.dialect, &home.folders)?;
        let command = agents::import_command(&home.folders);
        let (agent, dialect) = (home.agent.to_owned(), home.dialect.to_owned());
        found.push(FoundAgent { agent, dialect, paths: home.folders, survey, command });
    }
    Ok(found)
}

fn show(page: &mut Page, answer: &Discovery) {
    if answer.agents.is_empty() {
        show_none(page);
        return;
    }
    let look = page.look();
    let mut table = Table::new(&[
        Column::new("AGENT"),
        Column::new("FILES").right(),
        Column::new("BESIDE").right(),
        Column::new("SIZE").right(),
        Column::new("NEWEST"),
        Column::new("IMPORTED").right(),
        Column::new("TO READ").right(),
        Column::new("WHERE").gives_way(),
    ]);
    for found in &answer.agents {
        let Survey { files, sidecars: sidecar, bytes: size, newest, imported, to_read } =
            found.survey;
        let folders: Vec<_> = found.paths.iter().map(|location| agents::typed(location)).collect();
        let tone = if to_read > 0 { Tone::Good } else { Tone::Plain };
        table.row([
            Cell::new(Tone::Strong, &found.agent),
            Cell::new(Tone::Plain, grouped(files)),
            Cell::new(Tone::Plain, grouped(sidecar)),
            Cell::new(Tone::Plain, bytes(size)),
            Cell::new(Tone::Plain, newest.map(|newest| age(look, newest)).unwrap_or_default()),
            Cell::new(Tone::Plain, grouped(imported)),
            Cell::new(tone, grouped(to_read)),
            Cell::new(Tone::Dim, folders.join(" ")),
        ]);
    }
    table.show(page);
}

/// Tells users that no agent has sessions on this machine.
pub(super) fn show_none(page: &mut Page) {
    page.put(Tone::Plain, "No known agent keeps sessions here.").end();
}

/// Suggests import commands: one for each agent with new data, and one for all these agents.
fn tell_next(answer: &Discovery, output: &mut Output) {
    let unread = || answer.agents.iter().filter(|found| found.survey.to_read > 0);
    let does = |found: &FoundAgent| format!("the sessions of {}", found.agent);
    let each: Vec<_> = unread().map(|found| (found.command.clone(), does(found))).collect();
    let mut next: Vec<_> = each.iter().map(|(c, d)| (c.as_str(), d.as_str())).collect();
    if each.len() > 1 {
        next.push(("forklore import", "all of them"));
    }
    let has_files = answer.agents.iter().any(|found| found.survey.files > 0);
    if has_files && next.is_empty() {
        output.remark("Everything is imported. No file has changed since.");
        next.push(("forklore tree --all", "see it"));
        next.push(("forklore import --watch", "go on with what is added from now on"));
    } else if has_files {
        next.push(("forklore import --watch", "all of them, and what is added from then on"));
    }
    if !next.is_empty() {
        output.hints(&next);
    }
}
