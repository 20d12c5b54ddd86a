//! Names of attachments. An attachment is bytes stored outside the log; events name it by its
//! digest (docs/semantics.md, Attachments).

mod mention;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use mention::{Mention, Named, mentions};

/// The prefix of every attachment name.
const SCHEME: &str = "sha256:";

/// The name of an attachment: the SHA-256 of its bytes, written as `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttachmentId([u8; 32]);

/// The error for a string that is not an attachment name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an attachment is named by sha256: and 64 hex digits")]
pub struct NoAttachmentId;

impl AttachmentId {
    /// Returns the attachment name for bytes whose SHA-256 is `digest`.
    #[must_use]
    pub fn of(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the 64 hex digits in lower case, without `sha256:`.
    #[must_use]
    pub fn hex(&self) -> String {
        crate::id::hex(&self.0)
    }

    /// Checks whether a `ref` field is meant to name an attachment of a store: whether it begins
    /// with `sha256:`. The rest of the `ref` may be malformed.
    #[must_use]
    pub fn is_meant_by(reference: &str) -> bool {
        reference.starts_with(SCHEME)
    }

    /// Parses the 64 hex digits, without `sha256:`.
    ///
    /// # Errors
    /// `NoAttachmentId` if `hex` is not exactly 64 hex digits, in either case.
    pub fn from_hex(hex: &str) -> Result<Self, NoAttachmentId> {
        let mut digest = [0; 32];
        let mut digits = hex.bytes().map(|digit| char::from(digit).to_digit(16));
        for byte in &mut digest {
            let (Some(Some(high)), Some(Some(low))) = (digits.next(), digits.next()) else {
                return Err(NoAttachmentId);
            };
            *byte = u8::try_from(high << 4 | low).map_err(|_| NoAttachmentId)?;
        }
        if digits.next().is_some() { Err(NoAttachmentId) } else { Ok(Self(digest)) }
    }
}

impl FromStr for AttachmentId {
    type Err = NoAttachmentId;

    fn from_str(text: &str) -> Result<Self, NoAttachmentId> {
        Self::from_hex(text.strip_prefix(SCHEME).ok_or(NoAttachmentId)?)
    }
}

impl fmt::Display for AttachmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.hex())
    }
}

impl fmt::Debug for AttachmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for AttachmentId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AttachmentId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_in_small_letters() {
        let name = format!("sha256:{}", "0aF9".repeat(16));
        let id: AttachmentId = name.parse().unwrap();
        assert_eq!(id.to_string(), name.to_lowercase());
        assert_eq!(id.hex(), "0af9".repeat(16));
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{id}\""));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let short = "a".repeat(63);
        for text in ["", "sha256:", &format!("sha256:{short}"), &format!("sha256:{short}g")] {
            assert_eq!(text.parse::<AttachmentId>(), Err(NoAttachmentId), "{text}");
        }
        assert_eq!(format!("sha256:{short}aa").parse::<AttachmentId>(), Err(NoAttachmentId));
        assert_eq!(format!("{short}a").parse::<AttachmentId>(), Err(NoAttachmentId));
        assert_eq!(format!("sha256:{short}\u{e9}").parse::<AttachmentId>(), Err(NoAttachmentId));
    }
}
