//! What leaves the store: a session in the format of an agent or as a page, and the command that goes on
//! with it in an agent.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use forklore_api::ExportTo;
use forklore_core::{Selector, SessionId};
use serde::{Deserialize, Serialize};

use super::bytes::download;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// In which format a session is written, and up to where.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    to: String,
    at: Option<Selector>,
    cwd: Option<String>,
}

/// Sends a session in a format. It is always a download: a page has what the session brought along.
pub(crate) async fn export(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(Wanted { to, at, cwd }): Query<Wanted>,
) -> Result<impl IntoResponse, Problem> {
    let to = ExportTo { dialect: to, at, cwd };
    let body = download(service, move |engine, out| {
        let header = engine.show(&id)?;
        forklore::Export::new(engine, &header, &to)?.write(out).map(drop)
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
    ];
    Ok((headers, body.await?))
}

/// In which agent to go on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoOn {
    agent: String,
}

/// The command that goes on with a session in an agent.
#[derive(Debug, Serialize)]
pub(crate) struct ResumeCommand {
    session_id: SessionId,
    agent: String,
    /// The words of the command, for the machine of whoever asks. The server runs nothing.
    command: Vec<String>,
}

pub(crate) async fn resume_in(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(GoOn { agent }): Query<GoOn>,
) -> Result<Json<ResumeCommand>, Problem> {
    let command = service.answer(move |engine| {
        let session_id = engine.show(&id)?.id;
        let agents = engine.agents_to_export_to();
        if !agents.contains(&agent.as_str()) {
            let detail = format!("no session can be written for {agent:?}");
            return Err(Problem::new(forklore_core::ErrorKind::Unsupported, detail)
                .or_try(format!("agent is one of {}", agents.join(", "))));
        }
        let words = ["forklore", "resume-in", &agent, session_id.as_str()];
        let command = words.into_iter().map(str::to_owned).collect();
        Ok(ResumeCommand { session_id, agent, command })
    });
    Ok(Json(command.await?))
}
