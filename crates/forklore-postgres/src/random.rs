//! Random identities, of a store, an upload or a pin.

use forklore_store::Error;

use crate::fault::Result;

/// Returns 32 random hexadecimal digits.
pub(crate) fn hexadecimal() -> Result<String> {
    let mut bytes = [0_u8; 16];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| {
        Error::io("drawing a random number", "the system's random number generator failed")
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
