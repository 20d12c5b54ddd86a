//! The form that asks how far to go back, and with what.

use forklore_api::RewindScope;
use forklore_core::{Header, Selector, SessionId};
use forklore_engine::Engine;
use forklore_sanitize::shell;
use maud::{Markup, html};

use super::means::{Rights, means};
use crate::Pages;
use crate::answer::Answer;
use crate::fork;
use crate::params::Params;
use crate::shell::Shell;
use crate::shown::{self, Line};

/// A position to go back to, as the form offers it.
struct Choice {
    at: Selector,
    text: String,
}

/// The ways to go back, with their names in a form.
const SCOPES: [(RewindScope, &str, &str); 3] = [
    (RewindScope::Both, "both", "Conversation and files"),
    (RewindScope::Files, "files", "Files only"),
    (RewindScope::Conversation, "conversation", "Conversation only"),
];

/// Returns what a name in a form means.
pub(super) fn scope(name: &str) -> Option<RewindScope> {
    SCOPES.iter().find(|(_, it, _)| *it == name).map(|(scope, ..)| *scope)
}

/// Returns the name in a form.
pub(super) fn name(scope: RewindScope) -> &'static str {
    SCOPES.iter().find(|(it, ..)| *it == scope).map_or("both", |(_, name, _)| name)
}

/// The page with the form, for browsers without scripts.
pub(super) fn page(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    params: &Params,
) -> Answer<Markup> {
    Ok(framed(&form(pages, rights, session, params)?))
}

/// Puts a step into a page of its own.
pub(super) fn framed(step: &Markup) -> Markup {
    let shell = Shell { title: "Rewind", ..Shell::default() };
    shell.page(&html! { section.narrow { (step) } })
}

/// The form alone, for a dialog.
pub(super) fn form(
    pages: &Pages,
    rights: Rights,
    session: &SessionId,
    params: &Params,
) -> Answer<Markup> {
    let header = pages.engine.show(session)?;
    let choices = choices(&pages.engine, &header, params.number("at")?)?;
    let obstacle = means(pages, rights, &header).err();
    let usual = if obstacle.is_none() { RewindScope::Both } else { RewindScope::Conversation };
    Ok(html! {
        (heading(pages, &header))
        @if rights.may_write {
            form method="post" action={ "/s/" (session) "/rewind/plan" } data-step {
                fieldset {
                    legend { "Where" }
                    @for (number, choice) in choices.iter().enumerate() {
                        label.choice {
                            input type="radio" name="at" value=(choice.at)
                                checked[number == 0] required;
                            span { (choice.text) }
                        }
                    }
                }
                fieldset {
                    legend { "What" }
                    @for (scope, name, text) in SCOPES {
                        label.choice {
                            input type="radio" name="scope" value=(name)
                                checked[scope == usual] required;
                            span { (text) }
                        }
                    }
                }
                p.note {
                    "The session stays as it is: the conversation goes on in a fork. "
                    @match obstacle {
                        Some(obstacle) => {
                            (obstacle.as_str())
                            " If files are to go back, the next step shows the command to run."
                        }
                        None => {
                            "The files in " code { (Line(header.workspace.as_str())) }
                            " are recorded before they change, so this can be undone."
                        }
                    }
                }
                div.buttons {
                    button.primary type="submit" { "Show what would change" }
                    (cancel(session))
                }
            }
        } @else {
            @if let Some(obstacle) = obstacle { p.note { (obstacle.as_str()) } }
            @for choice in choices {
                p { (choice.text) ":" }
                (command(pages, session, &choice.at, RewindScope::Both))
            }
            div.buttons { (cancel(session)) }
        }
    })
}

/// The heading of each step. A dialog has its name from it.
pub(super) fn heading(pages: &Pages, header: &Header) -> Markup {
    html! {
        h1 #rewind-title { "Rewind" }
        p.note {
            (Line(&shown::name(&pages.engine, header))) " · " (header.label) " "
            (shown::running(&pages.engine, header))
        }
    }
}

pub(super) fn cancel(session: &SessionId) -> Markup {
    html! { a.button href={ "/s/" (session) } data-close { "Cancel" } }
}

/// Shows the command that does the same.
pub(super) fn command(
    pages: &Pages,
    session: &SessionId,
    at: &Selector,
    scope: RewindScope,
) -> Markup {
    let id = shell::quoted(session.as_str()).to_string();
    let only = match scope {
        RewindScope::Both => "",
        RewindScope::Files => " --files",
        RewindScope::Conversation => " --conversation",
    };
    let cut = at.to_string();
    let cut = shell::quoted(&cut);
    fork::command(
        &format!("rewind-{}", at.to_string().replace(':', "-")),
        &format!("{} rewind {id} --at {cut}{only}", pages.program),
    )
}

/// Returns the positions that the form offers for the event at a log position.
fn choices(engine: &Engine, header: &Header, at: Option<u64>) -> Answer<Vec<Choice>> {
    let choice = |at, text: &str| Choice { at, text: text.to_owned() };
    let end = choice(Selector::End, "To the end, with the files that were recorded last");
    let Some(seq) = at else { return Ok(vec![end]) };
    let stored = fork::event_at(engine, header, seq)?;
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (turn, index) = (stored.counts.turns, stored.counts.index);
    let behind = |index| if index == 0 { Selector::Start } else { Selector::Index(index) };
    let mut choices = Vec::new();
    if stored.event.class.is_conversation() {
        let before = behind(index.saturating_sub(1));
        choices.push(choice(behind(index), "To after this message"));
        match stored.event.effect.starts_turn {
            true => choices
                .insert(0, choice(before, "To before this message, to write another one instead")),
            false => choices.push(choice(before, "To before this message")),
        }
    } else {
        let text = format!("To event {seq}");
        choices.push(Choice { at: Selector::Seq(signed(seq)), text });
    }
    if turn > 0 {
        let text = format!("To after the whole turn {turn}");
        choices.push(Choice { at: Selector::Turn(signed(turn)), text });
    }
    Ok(choices)
}
