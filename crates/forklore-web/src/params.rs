//! The parameters of a request: its query, and the ids in its path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use forklore_core::SessionId;

use crate::answer::{Answer, Problem};
use crate::shown::encoded;

/// The query of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let query = Query::try_from_uri(&parts.uri);
        let Query(pairs) = query.map_err(|_| Problem::bad("The part after ? is not valid."))?;
        Ok(Self(pairs))
    }
}

impl From<Vec<(String, String)>> for Params {
    fn from(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }
}

impl Params {
    /// Returns the value of a parameter; `None` if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all values of a parameter that are not empty.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(it, _)| it == name);
        values.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the value of a parameter that is a number.
    pub(crate) fn number(&self, name: &str) -> Answer<Option<u64>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let bad = || Problem::bad(format!("{name} must be a whole number, from 0 on."));
        text.parse().map(Some).map_err(|_| bad())
    }

    /// Returns this query with another value of one parameter, for a link.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let others = self.0.iter().filter(|(it, value)| it != name && !value.is_empty());
        let others = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs = others.chain([(name, value)]);
        let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    }
}

/// Reads the id of a session in an address.
pub(crate) fn session(text: &str) -> Answer<SessionId> {
    SessionId::from_str(text).map_err(|why| Problem::missing(format!("No session: {why}.")))
}
