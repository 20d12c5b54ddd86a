//! CRC-32 checksums of the stored fields of a row, of a payload and of a list of spans
//! (docs/semantics.md, Envelope).

use crc32fast::Hasher;
use rusqlite::types::ValueRef;

/// Computes a checksum over a sequence of fields. It also covers the length of each field, so that
/// it changes if a byte moves from one field to the next.
#[derive(Default)]
pub(crate) struct Fields {
    hasher: Hasher,
    /// Bytes that are not hashed yet. They are collected because hashing many short pieces is much
    /// slower than hashing one long piece.
    buffered: Vec<u8>,
}

/// A field of at least this many bytes is hashed directly instead of being collected with other
/// fields.
const LONG: usize = 256;

impl Fields {
    pub(crate) fn number(mut self, number: Option<i64>) -> Self {
        match number {
            None => self.buffered.push(0),
            Some(number) => {
                self.buffered.push(1);
                self.buffered.extend_from_slice(&number.to_le_bytes());
            }
        }
        self
    }

    pub(crate) fn numbers(self, numbers: &[i64]) -> Self {
        numbers.iter().fold(self, |fields, number| fields.number(Some(*number)))
    }

    pub(crate) fn bytes(mut self, bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else {
            self.buffered.push(0);
            return self;
        };
        self.buffered.push(2);
        self.buffered.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        if bytes.len() < LONG {
            self.buffered.extend_from_slice(bytes);
        } else {
            self.hasher.update(&self.buffered);
            self.buffered.clear();
            self.hasher.update(bytes);
        }
        self
    }

    /// Adds the value of a column to the checksum. An integer changes it as [`Fields::number`]
    /// does, a text as [`Fields::bytes`] does.
    pub(crate) fn value(mut self, value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => self.number(None),
            ValueRef::Integer(number) => self.number(Some(number)),
            ValueRef::Text(bytes) => self.bytes(Some(bytes)),
            ValueRef::Real(real) => {
                // SQLite does not store the sign of a zero.
                self.buffered.push(3);
                self.buffered.extend_from_slice(&(real + 0.0).to_bits().to_le_bytes());
                self
            }
            ValueRef::Blob(bytes) => {
                self.buffered.push(4);
                self.bytes(Some(bytes))
            }
        }
    }

    pub(crate) fn sum(mut self) -> u32 {
        self.hasher.update(&self.buffered);
        self.hasher.finalize()
    }
}

/// Combines the checksum of an event's columns and that of its payload into one number for storage.
/// The two stay separate, so that a reader which needs only positions and counts can check the
/// columns without reading the payload.
pub(crate) fn join(columns: u32, payload: u32) -> i64 {
    (i64::from(columns) << 32) | i64::from(payload)
}

/// Splits a number that [`join`] returned into the checksum of an event's columns and that of its
/// payload.
pub(crate) fn split(sums: i64) -> (u32, u32) {
    ((sums >> 32) as u32, sums as u32)
}

/// Computes the checksum of an event's payload.
pub(crate) fn payload(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
