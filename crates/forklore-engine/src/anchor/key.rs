//! Signs anchors with a secret key, and checks the signatures.

use std::fmt::{self, Write};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::Anchor;

/// The first bytes of everything that is signed. They name the version.
const DOMAIN: &[u8] = b"forklore anchor 1";

/// A secret key for anchors.
#[derive(Clone)]
pub struct AnchorKey(Hmac<Sha256>);

impl AnchorKey {
    /// Makes a key of secret bytes, of any length. Returns `None` if there are none.
    #[must_use]
    pub fn new(secret: &[u8]) -> Option<Self> {
        if secret.is_empty() {
            return None;
        }
        Hmac::new_from_slice(secret).ok().map(Self)
    }

    /// Signs an anchor.
    pub fn sign(&self, anchor: &mut Anchor) {
        let mac = self.over(anchor).finalize().into_bytes();
        let hex = mac.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        anchor.hmac = Some(hex);
    }

    /// Checks whether the anchor is signed with this key.
    #[must_use]
    pub fn has_signed(&self, anchor: &Anchor) -> bool {
        let mac = anchor.hmac.as_deref().and_then(bytes);
        mac.is_some_and(|mac| self.over(anchor).verify_slice(&mac).is_ok())
    }

    fn over(&self, anchor: &Anchor) -> Hmac<Sha256> {
        let Anchor { session_id, seq, chain, lineage, settings, at, store, hmac: _ } = anchor;
        let mut mac = self.0.clone().chain_update(DOMAIN);
        mac.update(&seq.to_le_bytes());
        mac.update(&at.as_microsecond().to_le_bytes());
        mac.update(&[u8::from(store.is_some())]);
        let store = store.as_deref().unwrap_or_default();
        for field in [session_id.as_str(), chain, lineage, settings, store] {
            mac.update(&(field.len() as u64).to_le_bytes());
            mac.update(field.as_bytes());
        }
        mac
    }
}

/// Reads hex digits; `None` if the text is anything else.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = (0..hex.len()).step_by(2).map(|at| hex.get(at..at + 2));
    digits.map(|two| two.and_then(|two| u8::from_str_radix(two, 16).ok())).collect()
}

impl fmt::Debug for AnchorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnchorKey")
    }
}
