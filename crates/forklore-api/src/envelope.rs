//! The JSON object in which a verb prints its answer.

use forklore_core::{Data, SessionId};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use crate::ErrorObject;

/// The JSON object that a verb (forklore command) prints as its answer. It has the fields of the
/// answer and `ok`. It also has `error` if something is wrong, and `also` if there are further
/// session ids.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Envelope"))]
pub struct Envelope<T> {
    /// Whether the verb (forklore command) did everything it was asked to do, so that its exit code
    /// is 0.
    pub ok: bool,
    /// Why `ok` is `false`, for example because the turn was interrupted. Otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// The answer of the verb (forklore command). In JSON, the fields of the answer are fields of
    /// the enclosing object.
    #[serde(flatten)]
    pub answer: T,
    /// The ids of further sessions in the session file that the caller named. Present only if the
    /// caller named a file instead of a session, and the file has several sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SessionId>,
}

// Serde's derived code reads flattened fields into a buffer, which cannot contain the verbatim JSON
// of a `Data`. This implementation therefore reads the text twice.
impl<'de, T: DeserializeOwned> Deserialize<'de> for Envelope<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Outer {
            ok: bool,
            #[serde(default)]
            error: Option<ErrorObject>,
            #[serde(default)]
            also: Vec<SessionId>,
        }
        let text = Data::deserialize(deserializer)?;
        let Outer { ok, error, also } = text.read().map_err(D::Error::custom)?;
        let answer = text.read().map_err(D::Error::custom)?;
        Ok(Self { ok, error, answer, also })
    }
}
