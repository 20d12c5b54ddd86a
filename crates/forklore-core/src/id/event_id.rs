//! Event ids.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::{IdError, SessionId};
use crate::limits::EVENT_ID_BYTES;

/// An event's id: a UUID, or the native id that another agent gave the event. Event ids are not
/// unique.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Text);

/// The text of an id. Each text has exactly one form as a value of this enum. Two ids are therefore
/// equal if and only if these values are equal.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Text {
    /// A UUID in canonical form: lower case, with hyphens. Most ids are such UUIDs. Their text is
    /// in the id itself, so that a store that reads many events allocates no memory for it.
    Uuid([u8; Hyphenated::LENGTH]),
    /// Any other text.
    Native(Arc<str>),
}

impl EventId {
    /// Generates a UUIDv7 for an event written at `unix_millis` (milliseconds since the Unix
    /// epoch). `random` gives the random bits.
    #[must_use]
    pub fn generate(unix_millis: u64, random: [u8; 10]) -> Self {
        let uuid = uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid();
        Self::of_uuid(uuid.into_bytes())
    }

    /// Returns the UUID with these bytes as an id. Its text is in canonical form: lower case, with
    /// hyphens.
    #[must_use]
    #[inline]
    pub fn of_uuid(bytes: [u8; 16]) -> Self {
        let mut text = [0; Hyphenated::LENGTH];
        Uuid::from_bytes(bytes).hyphenated().encode_lower(&mut text);
        Self(Text::Uuid(text))
    }

    /// Derives a UUIDv8 for an event without an id, from the id of its session and a number. For an
    /// imported event, the number is its byte offset in the file. For an event that a fork or a
    /// recovery writes, it is the event's seq. The same arguments always give the same id.
    #[must_use]
    pub fn derived(session: &SessionId, number: u64) -> Self {
        Self::named(session, &number.to_string())
    }

    /// Derives a UUIDv8 for an event from a session id and `what`, a description of the event.
    /// Writers use this for an event whose log position is determined only when it is
    /// written. The same arguments always give the same id.
    #[must_use]
    pub fn named(session: &SessionId, what: &str) -> Self {
        let digest = Sha256::digest(format!("{session}\n{what}").as_bytes());
        let mut bytes = [0_u8; 16];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = from;
        }
        Self::of_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid().into_bytes())
    }

    /// Returns the 16 bytes of the UUID if the id is a UUID in canonical form (lower case, with
    /// hyphens). Any other id gives `None`.
    #[must_use]
    pub fn uuid(&self) -> Option<[u8; 16]> {
        canonical(self.as_str())
    }

    /// Returns the id as a string, exactly as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Text {
    fn as_str(&self) -> &str {
        match self {
            // The text of a UUID is ASCII.
            Self::Uuid(text) => std::str::from_utf8(text).unwrap_or_default(),
            Self::Native(text) => text,
        }
    }
}

/// Parses `text` as a UUID in canonical form (lower case, with hyphens). Returns the 16 bytes of
/// the UUID, or `None` if `text` is anything else.
fn canonical(text: &str) -> Option<[u8; 16]> {
    if text.len() != Hyphenated::LENGTH || text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    // At this length, the parser accepts no other form.
    Uuid::try_parse(text).ok().map(Uuid::into_bytes)
}

impl FromStr for EventId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        if let Some(uuid) = canonical(text) {
            return Ok(Self::of_uuid(uuid));
        }
        if text.is_empty() || text.len() > EVENT_ID_BYTES {
            return Err(IdError::Length { len: text.len(), max: EVENT_ID_BYTES });
        }
        if text.chars().any(char::is_control) {
            return Err(IdError::Control);
        }
        Ok(Self(Text::Native(text.into())))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EventId {
        text.parse().unwrap()
    }

    #[test]
    fn ids_that_spell_uuids_come_back_as_they_were() {
        for text in ["018f2c5e-0000-7abc-8def-0123456789ab", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
        {
            assert_eq!(EventId::of_uuid(id(text).uuid().unwrap()), id(text));
            assert_eq!(id(text).as_str(), text);
        }
        for text in [
            "018F2C5E-0000-7abc-8def-0123456789ab",
            "018f2c5e00007abc8def0123456789ab",
            "{018f2c5e00007abc8def01234567-89ab-}",
            "é",
        ] {
            assert_eq!((id(text).uuid(), id(text).as_str()), (None, text));
        }
    }

    #[test]
    fn ids_sort_as_their_texts_do() {
        let mut texts = [
            "018f2c5e-0000-7abc-8def-0123456789ab",
            "018f2c5e-0000-7abc-8def-0123456789ac",
            "018f2c5e",
            "018f2c5e-0000-7abc-8def-0123456789ab-2",
            "018F2C5E-0000-7abc-8def-0123456789ab",
            "msg_1",
        ];
        let mut ids = texts.map(id);
        ids.sort();
        texts.sort_unstable();
        assert_eq!(ids, texts.map(id));
    }
}
