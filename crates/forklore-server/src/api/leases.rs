//! Leases: who runs a session now.

use axum::extract::State;
use axum::{Extension, Json};
use forklore::Engine;
use forklore_api::{Scope, SessionAnswer};
use forklore_core::{Header, SessionId};
use serde::Deserialize;

use super::body::Body;
use super::sessions::answer;
use crate::access::Caller;
use crate::api::params::Path;
use crate::problem::Problem;
use crate::service::Service;

/// The most characters of an owner's name.
const LONGEST_OWNER: usize = 200;

/// Who takes or gives back a lease.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Owner {
    owner: String,
}

pub(crate) async fn take(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    Body(Owner { owner }): Body<Owner>,
) -> Result<Json<SessionAnswer>, Problem> {
    change(&service, &caller, id, owner, Engine::take_lease).await
}

pub(crate) async fn release(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    Body(Owner { owner }): Body<Owner>,
) -> Result<Json<SessionAnswer>, Problem> {
    change(&service, &caller, id, owner, Engine::release).await
}

async fn change(
    service: &Service,
    caller: &Caller,
    id: SessionId,
    owner: String,
    verb: fn(&Engine, &SessionId, &str) -> Result<Header, forklore::Error>,
) -> Result<Json<SessionAnswer>, Problem> {
    caller.needs(Scope::Write)?;
    check(&owner)?;
    let changed = service.call_as(caller, move |engine| {
        let header = verb(engine, &id, &owner)?;
        Ok(answer(engine, &header))
    });
    Ok(Json(changed.await?.0))
}

/// Refuses an owner that nobody could name.
fn check(owner: &str) -> Result<(), Problem> {
    if owner.is_empty() || owner.chars().count() > LONGEST_OWNER {
        return Err(Problem::invalid(format!("owner has 1 to {LONGEST_OWNER} characters")));
    }
    Ok(())
}
