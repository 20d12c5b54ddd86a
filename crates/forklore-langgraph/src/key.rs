//! The name of an element: a hash of its text.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

const BYTES: usize = 16;

/// The name of an element: the first 16 bytes of the SHA-256 of its text, in base64 for URLs.
/// Elements with the same text have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; BYTES]);

/// The error for a string that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl Key {
    /// Returns the key of the element with this text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(bytes)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key has 22 characters of base64 for URLs")
    }
}

impl std::error::Error for NotAKey {}

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NotAKey)?;
        bytes.try_into().map(Self).map_err(|_| NotAKey)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_text() {
        let key = Key::of(r#"{"content":"hi"}"#);
        assert_eq!(key.to_string().parse(), Ok(key));
        assert_eq!(key.to_string().len(), 22);
        assert_eq!("short".parse::<Key>(), Err(NotAKey));
    }
}
