//! The JSON object in which a verb prints its answer.

use forklore_core::{Data, SessionId};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

/// The JSON object that a verb (forklore command) prints. It has the fields of the answer, `ok`, and
/// `also` with further session ids.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Envelope"))]
pub struct Envelope<T> {
    /// `true`: the verb (forklore command) succeeded. `false` in the answer of an `import` that got
    /// no session from some of the named paths: the object then has the field `error` of a
    /// [`Refusal`](crate::Refusal) too.
    pub ok: bool,
    /// The answer of the verb. In JSON, the fields of the answer are fields of the enclosing
    /// object.
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
            also: Vec<SessionId>,
        }
        let text = Data::deserialize(deserializer)?;
        let Outer { ok, also } = text.read().map_err(D::Error::custom)?;
        let answer = text.read().map_err(D::Error::custom)?;
        Ok(Self { ok, answer, also })
    }
}
