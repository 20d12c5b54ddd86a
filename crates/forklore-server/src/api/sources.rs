//! The files from which sessions were imported.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use forklore_core::SessionId;
use serde::Serialize;

use super::bytes::download;
use crate::api::params::Path;
use crate::problem::Problem;
use crate::service::Service;

/// The stored files of a session.
#[derive(Serialize)]
pub(crate) struct Files {
    session_id: SessionId,
    /// The paths of the files, relative to the folder of the agent.
    files: Vec<String>,
}

pub(crate) async fn list(
    State(service): State<Service>,
    Path(session_id): Path<SessionId>,
) -> Result<Json<Files>, Problem> {
    let listed = service.call(move |engine| {
        let files = engine.files(&session_id)?;
        let files = files.iter().map(|file| file.relative_path().display().to_string()).collect();
        Ok(Files { session_id, files })
    });
    Ok(Json(listed.await?))
}

/// Sends the file from which a session was imported, byte for byte.
pub(crate) async fn restore(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<impl IntoResponse, Problem> {
    let body = download(service, move |engine, out| engine.restore(&id, out).map(drop)).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
    ];
    Ok((headers, body))
}
