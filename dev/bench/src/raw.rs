//! The lower limit for every read of a session: a file of records that is mapped into memory and
//! traversed.
//!
//! A record consists of the length of its payload, the checksum of its payload (four bytes each,
//! little endian), and the payload. A walk does only what no store can omit: it finds each record,
//! verifies the checksum, and checks that the payload is UTF-8.

use std::fs::File;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;

use crate::error::{Doing, Error, Result};
use crate::mapped::Mapped;

/// A file that contains only payloads with their lengths and checksums, mapped into memory. Reading
/// it is the least that any store must do.
#[derive(Debug)]
pub(crate) struct Raw {
    map: Mapped,
}

/// The numbers of events and bytes that one read of a session found. Every way of reading the same
/// session must find the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) events: usize,
    /// The size of all payloads in bytes.
    pub(crate) bytes: usize,
}

impl Seen {
    /// Counts an event with the payload `text`. Prevents the compiler from removing the code that
    /// produced the payload.
    pub(crate) fn payload(&mut self, text: &str) {
        self.events += 1;
        self.bytes += std::hint::black_box(text).len();
    }
}

impl Raw {
    /// Writes a file with one record (length, checksum, payload) per payload, and maps the file
    /// into memory.
    pub(crate) fn write(
        path: &Path,
        payloads: impl Iterator<Item = Result<String>>,
    ) -> Result<Self> {
        let mut file = BufWriter::new(File::create(path).doing("cannot make", path)?);
        for payload in payloads {
            let payload = payload?;
            let length = u32::try_from(payload.len())
                .map_err(|_| Error::Wrong(format!("a payload of {} bytes", payload.len())))?;
            let checksum = crc32fast::hash(payload.as_bytes());
            let parts = [&length.to_le_bytes()[..], &checksum.to_le_bytes(), payload.as_bytes()];
            for part in parts {
                file.write_all(part).doing("cannot write", path)?;
            }
        }
        let written = file.into_inner().map_err(IntoInnerError::into_error);
        written.and_then(|file| file.sync_all()).doing("cannot write", path)?;
        Ok(Self { map: Mapped::of(path)? })
    }

    /// Reads every record and verifies its checksum. Returns the number of records (one per event)
    /// and of payload bytes.
    pub(crate) fn walk(&self) -> Result<Seen> {
        let mut seen = Seen::default();
        let mut rest = self.map.bytes();
        while !rest.is_empty() {
            let (payload, behind) = record(rest)
                .ok_or_else(|| Error::Wrong(format!("record {} is damaged", seen.events)))?;
            seen.payload(payload);
            rest = behind;
        }
        Ok(seen)
    }
}

/// Returns the payload of the first record in `bytes`, and the bytes after that record. Returns
/// `None` if the record is damaged.
fn record(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let (payload, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let is_sound = crc32fast::hash(payload) == u32::from_le_bytes(*checksum);
    is_sound.then_some(())?;
    Some((std::str::from_utf8(payload).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_sees_all_and_stops_at_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records");
        let payloads = ["{}", "", "[\"\u{e4}\"]"];
        let write = || Raw::write(&path, payloads.iter().map(|it| Ok((*it).to_owned())));
        assert_eq!(write().unwrap().walk().unwrap(), Seen { events: 3, bytes: 8 });
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            let other = dir.path().join(at.to_string());
            std::fs::write(&other, damaged).unwrap();
            assert!(Raw { map: Mapped::of(&other).unwrap() }.walk().is_err(), "byte {at}");
        }
    }
}
