//! The parts of a path and what stands behind `?`, with a problem as the answer if they are wrong.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The parts of the path that a route names.
pub(crate) struct Path<T>(pub(crate) T);

/// The parameters behind `?`.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = axum::extract::Path::from_request_parts(parts, state).await;
        let axum::extract::Path(found) =
            found.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
        Ok(Self(found))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found = axum::extract::Query::from_request_parts(parts, state).await;
        let axum::extract::Query(found) =
            found.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
        Ok(Self(found))
    }
}

/// Returns how many items an answer has, if the number that a request names is one from 1 to `most`.
pub(crate) fn limit(limit: Option<usize>, usual: usize, most: usize) -> Result<usize, Problem> {
    match limit.unwrap_or(usual) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        _ => Err(Problem::invalid(format!("limit is a number from 1 to {most}"))),
    }
}
