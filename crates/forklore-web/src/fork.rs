//! Forks a session: the form, the fork itself, and the command that goes on in it.

mod worktree;

use std::path::Path;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, Label, Selector, SessionId};
use forklore_engine::{Engine, Fork};
use forklore_sanitize::shell;
use forklore_store::port::{At, Direction, LogEntry, Query};
use maud::{Markup, html};

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::params::{self, Params};
use crate::rewind::Rights;
use crate::shell::Shell;
use crate::shown::{self, Line};

/// The name by which the pages refer to forklore's own agent.
const OWN: &str = "forklore";

/// What a submitted form requests.
#[derive(Debug)]
pub(crate) struct Submitted {
    fork: Fork,
    agent: String,
    /// Whether the fork gets a folder of its own with the files of its position.
    has_worktree: bool,
}

/// A position at which a fork may begin, as the form offers it.
struct Choice {
    selector: Selector,
    text: String,
}

/// The page with the form, for browsers without scripts.
pub(crate) fn page(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    params: &Params,
) -> Answer<Markup> {
    let form = form(pages, rights, session, params)?;
    let shell = Shell { title: "Fork", ..Shell::default() };
    Ok(shell.page(&html! { section.narrow { (form) } }))
}

/// The form alone, for a dialog.
pub(crate) fn form(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    params: &Params,
) -> Answer<Markup> {
    let engine = &pages.engine;
    let header = engine.show(session)?;
    let choices = choices(engine, &header, params.number("at")?)?;
    let name = shown::name(engine, &header);
    let own = header.dialect.as_deref().unwrap_or(OWN);
    Ok(html! {
        form.fork method="post" action={ "/s/" (session) "/fork" } {
            h1 #fork-title { "Fork" }
            p.note { (Line(&name)) " · " (header.label) }
            input type="hidden" name="id" value=(engine.new_id());
            fieldset {
                legend { "Where" }
                @for (number, choice) in choices.iter().enumerate() {
                    label.choice {
                        input type="radio" name="at" value=(choice.selector.to_string())
                            checked[number == 0] required;
                        span { (choice.text) }
                    }
                }
            }
            label.field { span { "Label" }
                input name="label" autocomplete="off" spellcheck="false" maxlength="64"
                    placeholder="chosen for you if empty";
            }
            label.field { span { "Go on in" }
                select name="agent" {
                    @for agent in agents(engine) {
                        option value=(agent) selected[agent == own] { (agent) }
                    }
                }
            }
            label.field { span { "Folder" }
                input name="workspace" autocomplete="off" spellcheck="false"
                    placeholder=(Line(&format!("the same: {}", header.workspace.as_str())));
            }
            @if worktree::is_possible(pages, rights, &header) {
                label.choice {
                    input type="checkbox" name="worktree" value="yes";
                    span { "Make the folder, with the files as they were there" }
                }
                p.note { "Without a name, it is made next to the session's folder." }
            } @else {
                p.note {
                    "In another folder, such as a worktree of git, the fork has files of its own."
                }
            }
            p.note { "The session itself does not change. The fork exists at once." }
            div.buttons {
                button.primary type="submit" { "Fork" }
                a.button href={ "/s/" (session) } data-close { "Cancel" }
            }
        }
    })
}

/// Returns the positions that the form offers for the event at a log position.
fn choices(engine: &Engine, header: &Header, at: Option<u64>) -> Answer<Vec<Choice>> {
    let end = Choice { selector: Selector::End, text: "At the end".to_owned() };
    let Some(seq) = at else { return Ok(vec![end]) };
    let stored = event_at(engine, header, seq)?;
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let mut choices = vec![Choice {
        selector: Selector::Seq(signed(seq)),
        text: format!("Here, after event {seq}"),
    }];
    let (turn, index) = (stored.counts.turns, stored.counts.index);
    if stored.event.class.is_conversation() && index > 0 {
        let text = match stored.event.effect.starts_turn {
            true => "Before this message, to write another one instead",
            false => "Before this message",
        };
        let selector = if index == 1 { Selector::Start } else { Selector::Index(index - 1) };
        choices.push(Choice { selector, text: text.to_owned() });
    }
    if turn > 0 {
        let text = format!("After the whole turn {turn}");
        choices.push(Choice { selector: Selector::Turn(signed(turn)), text });
    }
    choices.push(end);
    Ok(choices)
}

/// Returns the event at a log position.
pub(crate) fn event_at(engine: &Engine, header: &Header, seq: u64) -> Answer<LogEntry> {
    let missing = || Problem::missing(format!("This session has no event {seq}."));
    let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit: 1, bare: false };
    let page = engine.store().read(&header.id, &query)?;
    page.events.into_iter().find(|stored| stored.seq == seq).ok_or_else(missing)
}

/// Returns the agents in which a fork can go on.
fn agents(engine: &Engine) -> Vec<&'static str> {
    let formats = engine.agent_formats().0.iter().filter(|format| format.export().is_some());
    [OWN].into_iter().chain(formats.map(|format| format.name())).collect()
}

fn folder(path: &str) -> Answer<Workspace> {
    let is_windows = path.get(1..3).is_some_and(|it| it == ":\\" || it == ":/");
    if !path.starts_with('/') && !is_windows {
        return Err(Problem::bad("Folder: write the whole path."));
    }
    Ok(Workspace::new(path))
}

impl Submitted {
    /// Reads a submitted form.
    pub(crate) fn of(engine: &Engine, session: SessionId, form: &Params) -> Answer<Self> {
        let at: Option<Result<Selector, _>> = form.get("at").map(str::parse);
        let at = at.transpose().map_err(|why| Problem::bad(format!("Where: {why}.")))?;
        let label: Option<Result<Label, _>> = form.get("label").map(str::parse);
        let label = label.transpose().map_err(|why| Problem::bad(format!("Label: {why}.")))?;
        let id = form.get("id").map(params::session).transpose()?;
        let agent = form.get("agent").unwrap_or(OWN);
        let bad = || Problem::bad("Go on in: no session can be written for this agent.");
        let agent = agents(engine).into_iter().find(|it| *it == agent).ok_or_else(bad)?;
        let workspace = form.get("workspace").map(folder).transpose()?;
        let fork = Fork { at, label, id, workspace, ..Fork::of(session) };
        let has_worktree = form.get("worktree") == Some("yes");
        Ok(Self { fork, agent: agent.to_owned(), has_worktree })
    }

    /// Forks the session. Returns the address of the fork's page. A form that is submitted twice
    /// makes one fork.
    pub(crate) fn make(&self, pages: &Pages, rights: Rights) -> Answer<String> {
        let fork = match self.has_worktree {
            true => worktree::make(pages, rights, &self.fork)?,
            false => pages.engine.fork(&self.fork)?.child_session_id,
        };
        Ok(format!("/s/{fork}?at=end&forked={}", self.agent))
    }
}

/// Shows the command that goes on in a fork.
pub(crate) fn made(pages: &Pages, header: &Header, agent: &str) -> Markup {
    let Some(agent) = agents(&pages.engine).into_iter().find(|it| *it == agent) else {
        return html! {};
    };
    let id = shell::quoted(header.id.as_str());
    let resume = match agent {
        OWN => format!("{} resume {id}", pages.program),
        agent => format!("{} resume-in {agent} {id}", pages.program),
    };
    let folder = header.workspace.as_str();
    let parent = header.parent_id.as_ref().and_then(|parent| pages.engine.show(parent).ok());
    let other = parent.filter(|parent| parent.workspace.as_str() != folder);
    let is_made = Path::new(folder).is_dir();
    let worktree = other.as_ref().filter(|_| !is_made).map(|parent| {
        let (from, to) = (shell::quoted(parent.workspace.as_str()), shell::quoted(folder));
        format!("git -C {from} worktree add {to}")
    });
    html! {
        div.made role="status" {
            @if agent == OWN && pages.has_chat {
                p { a.button.primary href={ "/s/" (header.id) "/chat" } { "Go on here" } }
            }
            p { "The fork " strong { (header.label) } " exists." }
            @if let Some(worktree) = &worktree {
                p { "Its folder gets the files of the last commit with:" }
                (command("worktree", worktree))
                p { "Then go on in " (agent) ", in that folder, with:" }
            } @else {
                @if other.is_some() { p { "Its folder is " code { (Line(folder)) } "." } }
                p { "Go on in " (agent) " with:" }
            }
            (command("command", &resume))
            @if agent != OWN {
                p.note {
                    "It writes the fork as a session of " (agent) ", and prints how to start "
                    (agent) " with it."
                }
            }
        }
    }
}

/// Shows a command with a button that copies it.
pub(crate) fn command(id: &str, command: &str) -> Markup {
    html! {
        div.command {
            code #(id) { (Line(command)) }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}
