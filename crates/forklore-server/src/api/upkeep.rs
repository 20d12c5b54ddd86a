//! What looks after the whole store: verifying, erasing and compressing.

use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use forklore_api::{
    AppliedRetention, ApplyRetention, Collected, Gc, Packed, Redact, Redacted, Scope, Verification,
    VerifiedSample, VerifySample,
};
use forklore_core::SessionId;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::body::{Body, JsonText, read};
use crate::access::Caller;
use crate::api::params::Path;
use crate::problem::Problem;
use crate::service::Service;

pub(crate) async fn verify(State(service): State<Service>) -> Result<Json<Verification>, Problem> {
    Ok(Json(service.call(|engine| engine.verify(None)).await?))
}

pub(crate) async fn verify_session(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<Json<Verification>, Problem> {
    Ok(Json(service.call(move |engine| engine.verify(Some(&id))).await?))
}

pub(crate) async fn verify_sample(
    State(service): State<Service>,
    Body(request): Body<VerifySample>,
) -> Result<Json<VerifiedSample>, Problem> {
    Ok(Json(service.call(move |engine| engine.verify_sample(&request)).await?))
}

/// Takes the content of events away, for good.
pub(crate) async fn redact(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Body(request): Body<Redact>,
) -> Result<Json<Redacted>, Problem> {
    if !request.dry_run {
        caller.needs(Scope::Admin)?;
    }
    Ok(Json(service.call_as(&caller, move |engine| engine.redact(&request)).await?))
}

pub(crate) async fn gc(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Body(request): Body<Gc>,
) -> Result<Json<Collected>, Problem> {
    caller.needs(Scope::Admin)?;
    Ok(Json(service.call_as(&caller, move |engine| engine.collect(&request)).await?))
}

/// Deletes and erases by the policy of the request.
pub(crate) async fn apply_retention(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    JsonText(text): JsonText,
) -> Result<Json<AppliedRetention>, Problem> {
    let fields: Map<String, Value> = read(&text)?;
    // Serde reads a list as a policy whose fields are left out.
    if fields.get("policy").is_some_and(|policy| !policy.is_object()) {
        return Err(Problem::invalid("policy is not as it should be: it is no JSON object"));
    }
    let request: ApplyRetention = read(&text)?;
    if !request.dry_run {
        caller.needs(Scope::Admin)?;
    }
    Ok(Json(service.call_as(&caller, move |engine| engine.apply_retention(&request)).await?))
}

/// Which families are compressed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Idle {
    /// Those in which no session was updated for this many days.
    #[serde(default = "usual_days")]
    idle_days: u32,
}

fn usual_days() -> u32 {
    30
}

pub(crate) async fn pack(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Body(Idle { idle_days }): Body<Idle>,
) -> Result<Json<Packed>, Problem> {
    caller.needs(Scope::Admin)?;
    let idle = Duration::from_secs(24 * 60 * 60 * u64::from(idle_days));
    Ok(Json(service.call_as(&caller, move |engine| engine.pack(idle)).await?))
}
