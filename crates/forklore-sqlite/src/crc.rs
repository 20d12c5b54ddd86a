//! Checksums: of all stored fields of a row, of a payload, of a list of spans (SPEC 2).

use crc32fast::Hasher;
use rusqlite::types::ValueRef;

/// Takes fields one by one, each with its length, so that no byte can move from one to the next.
#[derive(Default)]
pub(crate) struct Fields {
    hasher: Hasher,
    /// What is to be hashed next: many short pieces cost much more than a long one.
    buffered: Vec<u8>,
}

/// A piece from this length on is not copied to be hashed with others.
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

    /// A column of any type; of numbers and texts as the methods above.
    pub(crate) fn value(mut self, value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => self.number(None),
            ValueRef::Integer(number) => self.number(Some(number)),
            ValueRef::Text(bytes) => self.bytes(Some(bytes)),
            ValueRef::Real(real) => {
                // SQLite keeps no sign of a zero.
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

/// The sums of an event's columns and of its payload, as one number: a reader that wants places
/// and counts only can check them without reading the payload.
pub(crate) fn join(columns: u32, payload: u32) -> i64 {
    (i64::from(columns) << 32) | i64::from(payload)
}

/// What [`join`] joined.
pub(crate) fn split(sums: i64) -> (u32, u32) {
    ((sums >> 32) as u32, sums as u32)
}

/// The sum of a payload.
pub(crate) fn payload(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
