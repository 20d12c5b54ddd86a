//! Session ids, labels and event ids (docs/semantics.md, Envelope).
//!
//! A value of these types has been checked against the grammar of ids. forklore never builds a
//! path, a query or screen output from an id that has not been checked.

mod event_id;
mod short;
mod words;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};

pub use self::event_id::EventId;
pub use self::short::{ShortId, ShortIds};
use crate::kind::SessionKind;
use crate::limits::{ID_BYTES, LABEL_BYTES};

/// The number of attempts for a default label that add hex digits. Further attempts add a number.
const DIGIT_ATTEMPTS: usize = 4;

/// Why a string is not a valid id or label. The error never repeats the string, which may be
/// hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The string is empty or longer than allowed.
    #[error("a name has 1 to {max} bytes, this one has {len}")]
    Length {
        /// The length of the string, in bytes.
        len: usize,
        /// The longest length allowed, in bytes.
        max: usize,
    },
    /// The first character is not a letter, a digit or `_`.
    #[error("a name begins with a letter, a digit or `_`")]
    First,
    /// The string contains, after its first character, a character that ids and labels may not
    /// contain.
    #[error(
        "a name holds letters, digits, marks, `_`, `-` and `.`; character {at} is none of them"
    )]
    Character {
        /// The position of the disallowed character in the string, in characters from 1.
        at: usize,
    },
    /// The string is not in Unicode normalization form C.
    #[error("a name is written in Unicode normalization form C")]
    NotComposed,
    /// The string is `last`, in any case. `last` names the latest session, so it cannot be an id or
    /// label.
    #[error("`last` names the latest session and cannot be a name")]
    Reserved,
    /// An event id contains a control character.
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
            /// Returns the id or label as a string, exactly as it was written.
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
    /// A session's id: opaque, in Unicode normalization form C, unique without regard to case.
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
    /// A session's label, unique among the sessions with the same root (docs/semantics.md, Fork).
    Label(Arc<str>),
    |text| check_name(text, LABEL_BYTES)
);

impl SessionId {
    /// Returns the case-folded id. Ids that differ only in case have the same folded form, so a
    /// store compares this form.
    #[must_use]
    pub fn fold(&self) -> String {
        self.0.to_uppercase().to_lowercase().nfc().collect()
    }

    /// Generates a UUIDv8 for a session that begins at `unix_millis` (milliseconds since the Unix
    /// epoch). `random` gives the random bits. The id begins with the last bytes of `random`.
    ///
    /// The id has the bytes of a UUIDv7 in reverse order: it begins with random digits and ends
    /// with the time. The first eight digits of an id are therefore almost always unique, even in a
    /// store of a hundred thousand sessions.
    #[must_use]
    pub fn generate(unix_millis: u64, random: [u8; 10]) -> Self {
        let by_time = uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid();
        let mut bytes = by_time.into_bytes();
        bytes.reverse();
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string().into())
    }

    /// Returns an id for a fork in the form of the agent ak-coder: `fork-<parent>-<unix_millis>`.
    /// If that is longer than an id may be, the first 16 hex digits of sha256(parent) replace the
    /// parent's id, so that forks nest to any depth (docs/semantics.md, Fork).
    #[must_use]
    pub fn of_fork(parent: &Self, unix_millis: u64) -> Self {
        let whole = format!("fork-{parent}-{unix_millis}");
        if whole.len() <= ID_BYTES {
            return Self(whole.into());
        }
        let hex = hex(&Sha256::digest(parent.as_str().as_bytes()));
        Self(format!("fork-{}-{unix_millis}", &hex[..16]).into())
    }

    /// Derives an id for an imported session: `<dialect>-<16 hex of sha256(dialect, parts)>`. A
    /// session gets such an id if the id that its agent gave it is not valid or not free. Each
    /// branch inside an imported file also gets such an id (docs/semantics.md, Sources).
    ///
    /// # Errors
    /// If `dialect` is too long for an id, or contains a character that ids may not contain.
    pub fn derived(dialect: &str, parts: &[&str]) -> Result<Self, IdError> {
        format!("{dialect}-{}", &digest_hex(dialect, parts)[..16]).parse()
    }
}

impl Label {
    /// Returns `main`, the default label of a root.
    #[must_use]
    pub fn main() -> Self {
        Self("main".into())
    }

    /// Returns the default label of a fork: two words that sha256(id) chooses, such as
    /// `brave-otter`. If the label is in use, the caller tries the next `attempt`; attempts count
    /// from 0. Attempts 1 to 4 add 2, 4, 6 and 8 hex digits of the hash. Each later attempt also
    /// adds a number, from 2 on, so a free label always exists (docs/semantics.md, Fork).
    #[must_use]
    pub fn of_fork(id: &SessionId, attempt: usize) -> Self {
        let hash = Sha256::digest(id.as_str().as_bytes());
        let [first, second] = [0, 1].map(|at| hash.get(at).copied().unwrap_or_default());
        let rest = hex(hash.get(2..).unwrap_or_default());
        Self::with_digits(&words::name(first, second), &rest, 0, attempt)
    }

    /// Returns the default label of a child. A branch gets the label of [`Label::of_fork`]. A
    /// delegate gets `delegate-` and the first 8 hex digits of sha256(id). Further attempts add
    /// digits and a number to it as in [`Label::of_fork`].
    #[must_use]
    pub fn of_child(kind: SessionKind, id: &SessionId, attempt: usize) -> Self {
        if kind != SessionKind::Delegate {
            return Self::of_fork(id, attempt);
        }
        let hash = hex(&Sha256::digest(id.as_str().as_bytes()));
        Self::with_digits("delegate", &hash, 8, attempt)
    }

    /// Joins `name` and the first digits of `hash`. Attempt 0 has `digits` digits, and each attempt
    /// up to [`DIGIT_ATTEMPTS`] has two digits more than the one before. Further attempts have as
    /// many digits as that last one, and a number behind them: `-2`, `-3`, ...
    fn with_digits(name: &str, hash: &str, digits: usize, attempt: usize) -> Self {
        let digits = digits + 2 * attempt.min(DIGIT_ATTEMPTS);
        let mut label = name.to_owned();
        if digits > 0 {
            label += &format!("-{}", hash.get(..digits).unwrap_or(hash));
        }
        if let Some(further) = attempt.checked_sub(DIGIT_ATTEMPTS).filter(|further| *further > 0) {
            label += &format!("-{}", further.saturating_add(1));
        }
        Self(label.into())
    }
}

fn digest_hex(first: &str, rest: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(first.as_bytes());
    for part in rest {
        // A zero byte as separator distinguishes ("a","bc") from ("ab","c").
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
        assert_eq!(Label::of_fork(&id, 0).as_str(), "saffron-hamlet");
        assert_eq!(Label::of_fork(&id, 1).as_str(), "saffron-hamlet-16");
        assert_eq!(Label::of_fork(&id, 4).as_str(), "saffron-hamlet-16bf8f01");
        assert_eq!(Label::of_fork(&id, 5).as_str(), "saffron-hamlet-16bf8f01-2");
        assert_eq!(Label::of_fork(&id, 100).as_str(), "saffron-hamlet-16bf8f01-97");
        let delegate = |attempt| Label::of_child(SessionKind::Delegate, &id, attempt);
        assert_eq!(delegate(0).as_str(), "delegate-ba7816bf");
        assert_eq!(delegate(1).as_str(), "delegate-ba7816bf8f");
        assert_eq!(delegate(5).as_str(), "delegate-ba7816bf8f01cfea-2");
    }
}
