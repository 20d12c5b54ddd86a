//! `forklore` without a command: shows the last updated sessions and what to do next.

use forklore::Engine;
use forklore::api::{FoundAgent, Session};
use forklore::core::workspace::Workspace;
use forklore::engine::ListRequest;

use super::import::discover;
use super::list;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};

/// The number of sessions that the first screen shows.
const SHOWN: usize = 5;

/// A command to type next, and what it does.
type Step = (&'static str, &'static str);

const READ: Step = ("forklore replay last", "read the last session");
const FORK_AT_TURN: Step =
    ("forklore fork last --at turn:2", "go on from its second turn, on a branch");
const FORK_AT_END: Step = ("forklore fork last", "go on from its end, on a branch");
const WITH_SESSIONS: [Step; 3] = [
    ("forklore tree last", "see the branches"),
    ("forklore diff last@main last", "see what they do differently"),
    ("forklore resume last", "go on with the conversation"),
];
const ELSEWHERE: [Step; 3] = [
    ("forklore list --all", "see the sessions of every folder"),
    ("forklore --all replay last", "read the last one"),
    ("forklore --all fork last", "go on from its end, on a branch"),
];
const WITHOUT_SESSIONS: [Step; 3] = [
    ("forklore new --title \"A plan\"", "begin a session by hand"),
    ("forklore append last --text \"plan A or plan B?\"", "write into it"),
    ("forklore chat", "talk to a model, if one is configured"),
];

/// What the first screen shows: sessions, and agents with files that are not imported.
struct Found {
    /// The last updated sessions of this folder. If it has none, those of all folders.
    sessions: Vec<Session>,
    is_elsewhere: bool,
    agents: Vec<FoundAgent>,
}

/// Shows the user the last updated sessions and what to do next. With `--json`, returns a usage
/// error.
pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return Err(Failure::invalid("no command was given").or_try("forklore --help"));
    }
    let found = Found::here(app)?;
    output.page(|page| {
        page.put(Tone::Strong, "forklore").put(Tone::Plain, " keeps the sessions of AI agents. ");
        page.put(Tone::Plain, "Fork one at any point, go on in").end();
        page.put(Tone::Plain, "each branch, see the tree and what differs; nothing is ever lost.")
            .end();
        found.show(page);
        page.end().put(Tone::Plain, "All commands: ").put(Tone::Strong, "forklore --help").end();
    })
}

impl Found {
    /// Returns what to do next with the last session. A fork at a turn that the session does not have
    /// would be refused, and so would a fork of a session in which nobody said anything.
    fn with_sessions(&self) -> Vec<Step> {
        let fork = match self.sessions.first().map_or(0, |session| session.turns) {
            0 => None,
            1 => Some(FORK_AT_END),
            _ => Some(FORK_AT_TURN),
        };
        [READ].into_iter().chain(fork).chain(WITH_SESSIONS).collect()
    }

    fn here(app: &App) -> Result<Self> {
        let engine = app.engine_or_empty()?;
        let agents = discover::unread(engine)?;
        let sessions = latest(engine, app.scope()?.workspace)?;
        if sessions.is_empty() {
            let sessions = latest(engine, None)?;
            return Ok(Self { is_elsewhere: !sessions.is_empty(), sessions, agents });
        }
        Ok(Self { sessions, is_elsewhere: false, agents })
    }

    fn show(&self, page: &mut Page) {
        if !self.sessions.is_empty() {
            let of = if self.is_elsewhere { "of other folders; this one has none" } else { "here" };
            page.end().put(Tone::Plain, format!("The latest sessions {of}:")).end();
            list::show(page, &self.sessions, self.is_elsewhere);
        }
        if !self.agents.is_empty() {
            page.end().put(Tone::Plain, "On this machine, not read yet:").end();
            for agent in &self.agents {
                let files = count(agent.survey.to_read, "file");
                page.put(Tone::Plain, format!("  {} of {}", files, agent.agent)).end();
            }
            steps(page, "Read them:", &[("forklore import", "the files stay as they are")]);
        }
        match (self.sessions.is_empty(), self.is_elsewhere) {
            (true, _) if self.agents.is_empty() => steps(page, "Begin here:", &WITHOUT_SESSIONS),
            (true, _) => steps(page, "Or begin without an agent:", &WITHOUT_SESSIONS),
            (false, true) => steps(page, "What to do next:", &ELSEWHERE),
            (false, false) => steps(page, "What to do next:", &self.with_sessions()),
        }
    }
}

/// Returns the last updated sessions of a folder, or of all folders.
fn latest(engine: &Engine, workspace: Option<Workspace>) -> Result<Vec<Session>> {
    let request = ListRequest { workspace, limit: SHOWN, ..ListRequest::default() };
    let found = engine.list(&request)?.sessions;
    Ok(found.iter().map(|header| engine.described(header)).collect())
}

fn steps(page: &mut Page, heading: &str, steps: &[Step]) {
    page.end().put(Tone::Plain, heading).end();
    let width = steps.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, does) in steps {
        page.put(Tone::Strong, format!("  {command:<width$}  ")).put(Tone::Dim, does).end();
    }
}
