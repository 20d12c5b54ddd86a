//! `hooks list`: which agents have hooks, and when these last ran.

use std::path::Path;

use forklore::api::{AgentHook, AgentHooks};

use super::agent::Agent;
use crate::agent_config::read;
use crate::app::App;
use crate::failure::Result;
use crate::hook_run;
use crate::output::{Cell, Column, Output, Table, Tone};

pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    let workspace = app.workspace()?;
    let project = Path::new(workspace.as_str());
    let mut hooks = Vec::new();
    for agent in Agent::ALL {
        for project in [None, Some(project)] {
            // Some agents read no hooks from a project.
            let Ok(path) = agent.file(project) else { continue };
            let text = read(&path)?.unwrap_or_default();
            let (installed, problem) = match agent.without(&text) {
                Ok(without) => (without.is_some(), None),
                Err(why) => (false, Some(why)),
            };
            if project.is_some() && !installed {
                continue;
            }
            let last = hook_run::last(agent.name())?;
            hooks.push(AgentHook {
                agent: agent.name().to_owned(),
                path,
                installed,
                problem,
                last,
            });
        }
    }
    let answer = AgentHooks { hooks };
    output.answer(&answer, |page| {
        let mut table = Table::new(&[
            Column::new("AGENT"),
            Column::new("HOOKS"),
            Column::new("LAST RUN"),
            Column::new("FILE"),
        ]);
        for hook in &answer.hooks {
            let (tone, there) = match hook.installed {
                true => (Tone::Good, "installed"),
                false => (Tone::Dim, "none"),
            };
            let last =
                hook.last.as_ref().map_or_else(|| "never".to_owned(), |run| run.at.to_string());
            table.row(vec![
                Cell::new(Tone::Strong, hook.agent.as_str()),
                Cell::new(tone, there),
                Cell::new(Tone::Plain, last),
                Cell::new(Tone::Dim, hook.path.display().to_string()),
            ]);
        }
        table.show(page);
        for hook in &answer.hooks {
            let failed = hook.last.as_ref().and_then(|run| run.error.as_ref());
            for problem in failed.into_iter().chain(&hook.problem) {
                page.put(Tone::Warn, format!("{}: ", hook.agent)).put(Tone::Plain, problem).end();
            }
        }
    })
}
