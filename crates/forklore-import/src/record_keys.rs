//! Computes the keys by which records, titles and first lines are found or compared.

use forklore_core::agent_format::Record;
use forklore_store::sources::RecordKey;
use sha2::{Digest, Sha256};

/// Returns the key of `bytes`: the first 8 bytes of their sha256, as a big-endian number.
pub(crate) fn record_key(bytes: &[u8]) -> RecordKey {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// Returns the key by which later records of the file refer to this record. Returns `None` if the
/// record has no id.
pub(crate) fn key_of(record: &Record) -> Option<RecordKey> {
    let name = record.key.as_ref().or(record.native_id.as_ref());
    name.map(|name| record_key(name.as_bytes()))
}

/// Returns the key of the record's native id (the agent's own id of the record), if it has one.
pub(crate) fn native_key(record: &Record) -> Option<RecordKey> {
    record.native_id.as_deref().map(|native| record_key(native.as_bytes()))
}
