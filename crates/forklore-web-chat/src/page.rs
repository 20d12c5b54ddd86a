//! The page on which one talks to the agent.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use forklore_core::SessionId;
use forklore_engine::Engine;
use forklore_web::part::{self, Conversation, Frame, Problem};
use maud::{Markup, html};
use serde::Deserialize;

use crate::assets;
use crate::chat::{Agent, Chat};
use crate::request::Caller;

pub(crate) type Page = Result<Html<String>, Problem>;

/// What the address may say besides the session.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Choice {
    /// The model to begin with.
    model: Option<String>,
}

/// What the page shows of a session, besides its conversation.
struct Shown {
    conversation: Conversation,
    /// Whether the last turn was interrupted or cut short.
    is_broken_off: bool,
}

pub(crate) async fn show(
    State(chat): State<Chat>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(choice): Query<Choice>,
) -> Page {
    let id: SessionId =
        id.parse().map_err(|why| Problem::missing(format!("No session: {why}.")))?;
    let (of, session) = (chat.clone(), id.clone());
    let shown = on_thread(move || {
        let conversation = part::conversation(&of.inner().pages, &session)?;
        Ok(Shown { conversation, is_broken_off: is_broken_off(of.engine(), &session) })
    });
    let shown = shown.await?;
    let composer = match (chat.agent_if_any(), caller.may_write) {
        (None, _) => no_agent(),
        (Some(_), false) => html! {
            p.note { "Your token may read only, so you can follow this conversation." }
        },
        (Some(agent), true) => match agent.host.configured().model(None) {
            Err(error) if agent.host.configured().config.models.is_empty() => {
                not_configured(&error.to_string())
            }
            _ => composer(agent, &shown, choice.model.as_deref()),
        },
    };
    Ok(Html(page(&id, &shown.conversation, &composer, caller.may_write).into_string()))
}

/// Reads the store on a thread that may block.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let failed = |_| Problem::failed("The server stopped working.");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

fn page(id: &SessionId, shown: &Conversation, composer: &Markup, may_write: bool) -> Markup {
    let live = format!("/api/v1/sessions/{id}/events/live");
    let (scripts, styles) = ([assets::url("chat", "js")], [assets::url("chat", "css")]);
    let frame = Frame { title: &shown.name, live: &live, scripts: &scripts, styles: &styles };
    frame.page(&html! {
        div.talk data-chat=(id) data-may-write=[may_write.then_some("yes")] {
            header.session {
                h1 { (part::line(&shown.name)) }
                (shown.facts)
                div.tools {
                    a.button href={ "/s/" (id) "/fork" } data-dialog { "Fork" }
                    a.button href={ "/s/" (id) } { "Read from the beginning" }
                    a.button href={ "/f/" (id) } data-key="t" { "Family" }
                    a.button href="/chat/new" { "New chat" }
                }
            }
            h2.hidden { "Conversation" }
            (shown.entries)
            section #answering aria-label="The answer as it arrives" {}
            div.bottom {
                div #notice .notice role="alert" hidden {}
                noscript { p.note { "To talk here, the browser needs JavaScript." } }
                (composer)
            }
        }
        (question(may_write))
    })
}

fn composer(agent: &Agent, shown: &Shown, chosen: Option<&str>) -> Markup {
    let configured = agent.host.configured();
    let usual = configured.model(None).ok().map(|(name, _)| name);
    let names: Vec<_> = configured.config.models.keys().map(String::as_str).collect();
    let chosen = chosen.filter(|chosen| names.contains(chosen)).or(usual);
    html! {
        div #asks .notice hidden {
            span { "A call waits for your answer." }
            button type="button" #ask { "Answer" }
        }
        div #broken .notice hidden[!shown.is_broken_off] {
            span { "The last turn did not end." }
            button type="button" #continue { "Go on with it" }
        }
        form #composer {
            label.hidden for="prompt" { "Message" }
            textarea #prompt name="prompt" rows="2" required autocomplete="off"
                placeholder="Message" aria-describedby="how" {}
            div.buttons {
                @if names.len() > 1 {
                    label.model { span { "Model" }
                        select #model name="model" {
                            @if chosen.is_none() { option value="" { "choose" } }
                            @for name in names {
                                option value=(name) selected[chosen == Some(name)] { (name) }
                            }
                        }
                    }
                }
                span #how .note { "Enter sends, Shift+Enter begins a line, Esc interrupts" }
                button type="button" #interrupt hidden { "Interrupt" }
                button.primary type="submit" #send { "Send" }
            }
        }
    }
}

/// The dialog that asks whether a tool may be called. The script fills it in.
fn question(may_write: bool) -> Markup {
    html! {
        @if may_write {
            dialog #approval aria-labelledby="approval-title" {
                h2 #approval-title tabindex="-1" { "May this call run?" }
                p #approval-prompt {}
                pre #approval-arguments tabindex="0" role="group" aria-label="The arguments of the call" {}
                div.buttons {
                    button type="button" data-answer="deny" { "Deny" }
                    button type="button" data-answer="allow" { "Allow once" }
                    button type="button" data-answer="always" {
                        "Allow this tool here until the server ends"
                    }
                }
                p.note { "Esc leaves the question open." }
            }
        }
    }
}

fn no_agent() -> Markup {
    html! {
        p.notice {
            "This server does not run an agent. Start it with " code { "forklore serve --chat" }
            ", and whoever may write can talk here."
        }
    }
}

/// What the program says if no model is configured.
fn not_configured(message: &str) -> Markup {
    html! { pre.notice { (part::block(message)) } }
}

/// Checks whether the last turn was interrupted or cut short, and nobody runs it now.
fn is_broken_off(engine: &Engine, id: &SessionId) -> bool {
    let is_free = engine.show(id).is_ok_and(|header| !engine.is_leased(&header));
    let is_open = || engine.interrupted_turn(id).is_ok_and(|open| open.is_some());
    is_free && (is_open() || engine.is_cut_short(id).unwrap_or(false))
}
