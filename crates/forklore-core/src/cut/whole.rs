//! The serialized form of a cut in which nothing is left out, for the protocol between stores. The
//! contract leaves out the number of inherited events.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Cut;
use crate::id::EventId;

#[derive(Serialize, Deserialize)]
struct Whole {
    seq: Option<u64>,
    index: u64,
    message: Option<u64>,
    turn: Option<u64>,
    event_id: Option<EventId>,
    inheritable: u64,
}

impl From<&Cut> for Whole {
    fn from(cut: &Cut) -> Self {
        let Cut { seq, index, message, turn, event_id, inheritable } = cut.clone();
        Self { seq, index, message, turn, event_id, inheritable }
    }
}

impl From<Whole> for Cut {
    fn from(whole: Whole) -> Self {
        let Whole { seq, index, message, turn, event_id, inheritable } = whole;
        Self { seq, index, message, turn, event_id, inheritable }
    }
}

/// Serializes a cut with all its fields.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(cut: &Cut, to: S) -> Result<S::Ok, S::Error> {
    Whole::from(cut).serialize(to)
}

/// Deserializes a cut with all its fields.
///
/// # Errors
/// If a field is missing, and those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cut, D::Error> {
    Whole::deserialize(from).map(Cut::from)
}

/// The same for a cut that may be missing.
pub mod optional {
    use super::{Cut, Deserialize, Deserializer, Serialize, Serializer, Whole};

    /// Serializes a cut with all its fields, or null.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(cut: &Option<Cut>, to: S) -> Result<S::Ok, S::Error> {
        cut.as_ref().map(Whole::from).serialize(to)
    }

    /// Deserializes a cut with all its fields, or null.
    ///
    /// # Errors
    /// If a field is missing, and those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cut>, D::Error> {
        Ok(Option::<Whole>::deserialize(from)?.map(Cut::from))
    }
}
