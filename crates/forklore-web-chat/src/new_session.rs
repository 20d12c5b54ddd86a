//! A new session, with a model and a folder.

use axum::Extension;
use axum::extract::{Form, State};
use axum::response::{Html, Redirect};
use forklore_core::workspace::Workspace;
use forklore_engine::Create;
use forklore_web::part::{self, Frame, Problem};
use maud::html;
use serde::Deserialize;

use crate::assets;
use crate::chat::{Agent, Chat};
use crate::page::{Page, on_thread};
use crate::request::Caller;

/// What the form says.
#[derive(Debug, Deserialize)]
pub(crate) struct Submitted {
    folder: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    title: String,
}

pub(crate) async fn form(State(chat): State<Chat>) -> Page {
    let agent = agent(&chat)?;
    let styles = [assets::url("chat", "css")];
    let frame = Frame { title: "New chat", styles: &styles, ..Frame::default() };
    let configured = agent.host.configured();
    let usual = configured.model(None).ok().map(|(name, _)| name);
    let problem = configured.model(None).err().filter(|_| configured.config.models.is_empty());
    let page = frame.page(&html! {
        section.narrow {
            h1 { "New chat" }
            @if let Some(problem) = problem {
                pre.notice { (part::block(&problem.to_string())) }
            } @else {
                form method="post" action="/chat/new" {
                    label.field { span { "Model" }
                        select name="model" required {
                            @if usual.is_none() { option value="" { "choose" } }
                            @for name in configured.config.models.keys() {
                                option value=(name) selected[usual == Some(name)] { (name) }
                            }
                        }
                    }
                    label.field { span { "Folder" }
                        input name="folder" required autocomplete="off" spellcheck="false"
                            value=(part::line(agent.folder.as_str()));
                    }
                    label.field { span { "Title" }
                        input name="title" autocomplete="off" maxlength="200"
                            placeholder="your first words if empty";
                    }
                    div.buttons {
                        button.primary type="submit" { "Begin" }
                        a.button href="/" { "Cancel" }
                    }
                }
            }
        }
    });
    Ok(Html(page.into_string()))
}

pub(crate) async fn make(
    State(chat): State<Chat>,
    Extension(caller): Extension<Caller>,
    Form(form): Form<Submitted>,
) -> Result<Redirect, Problem> {
    let agent = agent(&chat)?;
    let model = Some(form.model.as_str()).filter(|name| !name.is_empty());
    let configured = agent.host.configured().model(model);
    let (model, _) = configured.map_err(|error| Problem::bad(error.to_string()))?;
    let folder = Some(form.folder.trim()).filter(|folder| !folder.is_empty());
    let folder = folder.map_or_else(|| agent.folder.clone(), Workspace::new);
    let title = Some(form.title.trim().to_owned()).filter(|title| !title.is_empty());
    let engine = chat.engine().clone().with_principal(&caller.name);
    let create = Create { title, ..Create::in_workspace(folder) };
    let made = on_thread(move || Ok(engine.create(&create)?)).await?;
    Ok(Redirect::to(&format!("/s/{}/chat?model={}", made.id, part::encoded(model))))
}

fn agent(chat: &Chat) -> Result<&Agent, Problem> {
    chat.agent_if_any().ok_or_else(|| {
        Problem::missing("This server does not run an agent. Start it with: forklore serve --chat")
    })
}
