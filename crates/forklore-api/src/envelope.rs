//! The JSON object in which a verb prints its answer.

use forklore_core::{Data, SessionId};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

/// The JSON object that a successful verb (forklore command) prints. The object has the fields of
/// the answer, `ok`, and `also` with further session ids.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Envelope"))]
pub struct Envelope<T> {
    /// Always `true`: the verb succeeded.
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
