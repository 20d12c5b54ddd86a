//! Names that only parse: session ids, labels and event ids (SPEC 2).
//!
//! A value of these types has passed the grammar; no path, query or screen is ever built from
//! text that has not.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytestring::ByteString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use uuid::fmt::Hyphenated;

use crate::limits::{EVENT_ID_BYTES, ID_BYTES, LABEL_BYTES};

/// Why a text is no id or label. It never repeats the text, which may be hostile (SPEC 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Nothing, or more bytes than allowed.
    #[error("a name has 1 to {max} bytes, this one has {len}")]
    Length {
        /// The bytes given.
        len: usize,
        /// The most that are allowed.
        max: usize,
    },
    /// The first character is no letter, digit or `_`.
    #[error("a name begins with a letter, a digit or `_`")]
    First,
    /// A later character is outside the grammar.
    #[error(
        "a name holds letters, digits, marks, `_`, `-` and `.`; character {at} is none of them"
    )]
    Character {
        /// Its place, counted from 1.
        at: usize,
    },
    /// The text is not in Unicode's composed form.
    #[error("a name is written in Unicode normalization form C")]
    NotComposed,
    /// `last` is how people name the latest session, so nothing else is called that.
    #[error("`last` names the latest session and cannot be a name")]
    Reserved,
    /// An event id holds a control character.
    #[error("an event id holds no control characters")]
    Control,
}

fn check_name(text: &str, max: usize) -> Result<(), IdError> {
    if text.is_empty() || text.len() > max {
        return Err(IdError::Length { len: text.len(), max });
    }
    for (at, c) in text.chars().enumerate() {
        let word = c.is_alphanumeric() || c == '_';
        if at == 0 && !word {
            return Err(IdError::First);
        }
        if !(word || c == '-' || c == '.' || is_combining_mark(c)) {
            return Err(IdError::Character { at: at + 1 });
        }
    }
    if !is_nfc(text) {
        return Err(IdError::NotComposed);
    }
    if text.eq_ignore_ascii_case("last") {
        return Err(IdError::Reserved);
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident($text:ty), $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($text);

        impl $name {
            /// The name as it was written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> Result<(), IdError> = $check;
                check(text)?;
                Ok(Self(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

name_type!(
    /// A session's name: opaque, composed, unique without regard to case.
    ///
    /// ```
    /// use forklore_core::SessionId;
    /// assert!("plan-1.2".parse::<SessionId>().is_ok());
    /// assert!("../etc/passwd".parse::<SessionId>().is_err());
    /// ```
    SessionId(Arc<str>),
    |text| check_name(text, ID_BYTES)
);

name_type!(
    /// A branch's name, unique in its family (SPEC 6).
    Label(Arc<str>),
    |text| check_name(text, LABEL_BYTES)
);

name_type!(
    /// An event's name: a UUID or what the agent that wrote it used. Not unique (SPEC 2).
    EventId(ByteString),
    |text| {
        if text.is_empty() || text.len() > EVENT_ID_BYTES {
            return Err(IdError::Length { len: text.len(), max: EVENT_ID_BYTES });
        }
        if text.chars().any(char::is_control) {
            return Err(IdError::Control);
        }
        Ok(())
    }
);

impl SessionId {
    /// The id under which two spellings that differ only in case are the same.
    #[must_use]
    pub fn fold(&self) -> String {
        self.0.to_uppercase().to_lowercase().nfc().collect()
    }

    /// A new id for a session that begins at `unix_millis`, made of that time and `random`.
    #[must_use]
    pub fn generate(unix_millis: u64, random: [u8; 10]) -> Self {
        let uuid = uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid();
        Self(uuid.to_string().into())
    }

    /// The id of a session read from another agent's file when its native id is not usable, and
    /// of a branch found inside such a file: `<dialect>-<16 hex of sha256(parts)>` (SPEC 11).
    ///
    /// # Errors
    /// When `dialect` is no name.
    pub fn derived(dialect: &str, parts: &[&str]) -> Result<Self, IdError> {
        format!("{dialect}-{}", &digest_hex(dialect, parts)[..16]).parse()
    }
}

impl Label {
    /// The label of every root.
    #[must_use]
    pub fn main() -> Self {
        Self("main".into())
    }

    /// The label a fork gets when none is given: `fork-` and the first hex digits of sha256(id);
    /// the n-th attempt shows two digits more than the one before (SPEC 6).
    #[must_use]
    pub fn of_fork(id: &SessionId, attempt: usize) -> Self {
        let hex = hex(&Sha256::digest(id.as_str().as_bytes()));
        let digits = (8 + 2 * attempt).min(LABEL_BYTES - 5);
        Self(format!("fork-{}", &hex[..digits]).into())
    }
}

impl EventId {
    /// A new id for an event written at `unix_millis`.
    #[must_use]
    pub fn generate(unix_millis: u64, random: [u8; 10]) -> Self {
        let uuid = uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid();
        Self(uuid.to_string().into())
    }

    /// The UUID that the id spells in the way UUIDs are usually spelled, if it does.
    #[must_use]
    pub fn uuid(&self) -> Option<[u8; 16]> {
        let text = self.as_str();
        if text.len() != Hyphenated::LENGTH || text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        // Of this length no other spelling is accepted.
        uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes)
    }

    /// The ids that spell these UUIDs, as parts of one text: so a store reads many of them fast.
    #[must_use]
    pub fn of_uuids(uuids: &[[u8; 16]]) -> Vec<Self> {
        let mut text = String::with_capacity(uuids.len() * Hyphenated::LENGTH);
        let mut spelled = [0; Hyphenated::LENGTH];
        for uuid in uuids {
            text.push_str(uuid::Uuid::from_bytes(*uuid).hyphenated().encode_lower(&mut spelled));
        }
        let text = ByteString::from(text);
        let places = (0..text.len()).step_by(Hyphenated::LENGTH);
        let ids = places.filter_map(|at| text.get(at..at + Hyphenated::LENGTH));
        ids.map(|id| Self(text.slice_ref(id))).collect()
    }

    /// The id of an event that has none of its own: a UUIDv8 made from its session and a number
    /// (its byte offset in a file, its seq in a fork), so that making it twice gives it twice.
    #[must_use]
    pub fn derived(session: &SessionId, number: u64) -> Self {
        Self::named(session, &number.to_string())
    }

    /// The same of a session and what the event is there, for one that has no number before it is
    /// written.
    #[must_use]
    pub fn named(session: &SessionId, what: &str) -> Self {
        let digest = Sha256::digest(format!("{session}\n{what}").as_bytes());
        let mut bytes = [0_u8; 16];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = from;
        }
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string().into())
    }
}

fn digest_hex(first: &str, rest: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(first.as_bytes());
    for part in rest {
        // A separator that no part can hold keeps ("a","bc") and ("ab","c") apart.
        hash.update([0]);
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_that_spell_uuids_come_back_as_they_were() {
        let spelled =
            ["018f2c5e-0000-7abc-8def-0123456789ab", "ffffffff-ffff-ffff-ffff-ffffffffffff"];
        let ids = spelled.map(|text| text.parse::<EventId>().unwrap());
        let uuids: Vec<_> = ids.iter().filter_map(EventId::uuid).collect();
        assert_eq!(EventId::of_uuids(&uuids), ids);
        let others =
            ["018F2C5E-0000-7abc-8def-0123456789ab", "018f2c5e00007abc8def0123456789ab", "é"];
        assert_eq!(others.map(|text| text.parse::<EventId>().unwrap().uuid()), [None; 3]);
    }

    #[test]
    fn hostile_ids_are_refused_without_being_repeated() {
        for bad in [
            "",
            ".",
            "..",
            "-x",
            "a/b",
            "a\\b",
            "a b",
            "a\u{202e}b",
            "last",
            "LAST",
            "a\0",
            "e\u{301}",
            "\u{301}a",
            "a\nb",
        ] {
            let error = bad.parse::<SessionId>().expect_err(bad).to_string();
            assert!(bad.len() < 3 || bad.eq_ignore_ascii_case("last") || !error.contains(bad));
        }
        assert!("x".repeat(236).parse::<SessionId>().is_err());
        assert!("x".repeat(235).parse::<SessionId>().is_ok());
    }

    #[test]
    fn case_and_composition_fold_together() {
        let fold = |s: &str| s.parse::<SessionId>().unwrap().fold();
        assert_eq!(fold("Ärger"), fold("ÄRGER"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_ne!(fold("a-1"), fold("a.1"));
    }

    #[test]
    fn labels_of_forks_grow_while_in_use() {
        let id: SessionId = "abc".parse().unwrap();
        assert_eq!(Label::of_fork(&id, 0).as_str(), "fork-ba7816bf");
        assert_eq!(Label::of_fork(&id, 1).as_str(), "fork-ba7816bf8f");
    }
}
