//! The body of a chunk: the payloads of its events, one behind the other, as they are or compressed.

use std::io::Read;

use bytestring::ByteString;
use forklore_model::Data;

use crate::crc;
use crate::row::Row;

/// How a body is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// As it is: read as fast as the file.
    Plain,
    /// In about a third of the space, for events that are seldom read.
    Zstd,
}

/// Higher levels take much longer for a few bytes less.
const LEVEL: i32 = 3;

impl Codec {
    /// The number that stands for it.
    pub(super) fn code(self) -> i64 {
        match self {
            Self::Plain => 0,
            Self::Zstd => 1,
        }
    }

    pub(super) fn of(code: i64) -> Result<Self, String> {
        let codec = [Self::Plain, Self::Zstd].into_iter().find(|codec| codec.code() == code);
        codec.ok_or_else(|| format!("its codec {code} is unknown"))
    }
}

/// The payloads of these rows.
pub(super) fn write(codec: Codec, rows: &[&Row]) -> std::io::Result<Vec<u8>> {
    let payloads = rows.iter().map(|row| row.event.data.get());
    let mut text = String::with_capacity(payloads.clone().map(str::len).sum());
    payloads.for_each(|payload| text.push_str(payload));
    match codec {
        Codec::Plain => Ok(text.into_bytes()),
        Codec::Zstd => zstd::bulk::compress(text.as_bytes(), LEVEL),
    }
}

/// A body that was read.
pub(super) enum Body {
    Text(ByteString),
    /// Somewhere in it a payload is damaged.
    NoText(Vec<u8>),
}

impl Body {
    /// What `stored` holds, of which the payloads take `len` bytes.
    pub(super) fn read(codec: Codec, stored: &[u8], len: usize) -> Result<Self, String> {
        let bytes = match codec {
            Codec::Plain => stored.to_vec(),
            Codec::Zstd => decompressed(stored, len).map_err(|error| error.to_string())?,
        };
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(error) => Self::NoText(error.into_bytes()),
        })
    }

    /// A payload, which must fit its checksum.
    pub(super) fn payload(&self, at: usize, len: usize, sum: u32) -> Result<Data, String> {
        let range = at..at.saturating_add(len);
        let bytes = match self {
            Self::Text(text) => str::as_bytes(text),
            Self::NoText(bytes) => bytes,
        };
        let bytes = bytes.get(range.clone()).ok_or("its payload is not there")?;
        if crc::payload(bytes) != sum {
            return Err("its payload does not fit its checksum".into());
        }
        if let Self::Text(text) = self
            && let Some(part) = text.get(range)
        {
            return Ok(Data::from_checked(text.slice_ref(part)));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Ok(Data::from_checked(text))
    }
}

/// No more than `len` bytes, whatever the compressed ones promise.
fn decompressed(stored: &[u8], len: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(stored.len().saturating_mul(64)));
    let decoder = zstd::stream::read::Decoder::with_buffer(stored)?;
    decoder.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
