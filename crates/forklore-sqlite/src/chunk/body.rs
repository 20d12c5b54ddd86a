//! The body of a chunk: the concatenated payloads of its events, plain or compressed.

use std::cell::RefCell;
use std::io::Read;
use std::ops::Range;

use bytes::Bytes;
use bytestring::ByteString;
use forklore_core::Data;
use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB, ffi};
use zstd::stream::read::Decoder;
use zstd::zstd_safe::DCtx;

use super::buffer::Buffer;
use crate::crc;
use crate::fault;
use crate::row::Row;

/// How the payloads of a chunk are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Uncompressed. One payload can be read without the other payloads of the chunk.
    Plain,
    /// Compressed with zstd to about a third of the size. Used for events that are rarely read.
    Zstd,
}

/// Maximum length in bytes of a chunk's payloads. It is SQLite's limit for a row. A damaged chunk
/// may claim a larger length. Such a chunk is refused, because allocating that length could exhaust
/// the memory.
const LONGEST: usize = 1_000_000_000;
/// The zstd compression level of chunks. Higher levels take much longer and save few bytes.
const LEVEL: i32 = 3;
/// Maximum size in bytes of a zstd decompression state that a thread uses again. A larger state is
/// replaced by a new one. Undamaged chunks need less; only a damaged one can claim more.
const LARGEST_CONTEXT: usize = 8 << 20;

impl Codec {
    /// Returns the number that stands for this codec in a chunk's row.
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

/// Concatenates the payloads of these events, and encodes the result with `codec`.
pub(super) fn write(codec: Codec, rows: &[&Row]) -> std::io::Result<Vec<u8>> {
    let payloads = rows.iter().map(|row| row.event.data.get());
    let mut text = String::with_capacity(payloads.clone().map(str::len).sum());
    payloads.for_each(|payload| text.push_str(payload));
    match codec {
        Codec::Plain => Ok(text.into_bytes()),
        Codec::Zstd => zstd::bulk::compress(text.as_bytes(), LEVEL),
    }
}

/// The part of a chunk's body that was read. A body is the concatenation of the payloads of the
/// chunk's events. The events that are read from this part share its memory.
pub(super) struct Body {
    /// The offset in bytes at which `content` begins in the chunk's whole body (its concatenated
    /// payloads).
    from: usize,
    content: Content,
}

enum Content {
    Text(ByteString),
    /// Bytes that are not UTF-8, so at least one payload in them is damaged.
    NoText(Bytes),
}

impl Body {
    /// Reads the body (the payloads) of the chunk whose key is `k`. Of an uncompressed body, reads
    /// only the bytes in `range`. For a compressed body, `len` is its length in bytes after
    /// decompression. Returns an inner error if the chunk is damaged.
    pub(super) fn read(
        bodies: &mut Bodies<'_>,
        k: i64,
        codec: Codec,
        range: Range<usize>,
        len: usize,
    ) -> fault::Result<Result<Self, String>> {
        let blob = match bodies.at(k) {
            Ok(blob) => blob,
            Err(error) if is_no_blob(&error) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let range = match codec {
            Codec::Plain => range.start.min(blob.len())..range.end.min(blob.len()),
            Codec::Zstd => 0..blob.len(),
        };
        // After `min`, the range ends within the blob.
        let mut stored = Buffer::of(range.len(), blob.len().saturating_sub(range.end));
        blob.read_at_exact(stored.bytes_mut(), range.start)?;
        Ok(match codec {
            Codec::Plain => Ok(Self::of(range.start, stored)),
            Codec::Zstd => match decompressed(stored.bytes(), len) {
                Ok(bytes) => Ok(Self::of(0, bytes.into())),
                Err(error) => Err(error.to_string()),
            },
        })
    }

    /// Creates a body from bytes that begin at the offset `from`. Checks here whether all of them
    /// are UTF-8, because one check of all bytes takes less time than one per payload.
    fn of(from: usize, bytes: Buffer) -> Self {
        let bytes = bytes.share();
        let content = match ByteString::try_from(bytes.clone()) {
            Ok(text) => Content::Text(text),
            Err(_) => Content::NoText(bytes),
        };
        Self { from, content }
    }

    fn part(&self, at: usize, len: usize) -> Option<(Range<usize>, &[u8])> {
        let from = at.checked_sub(self.from)?;
        let range = from..from.saturating_add(len);
        let bytes = match &self.content {
            Content::Text(text) => str::as_bytes(text),
            Content::NoText(bytes) => bytes,
        };
        Some((range.clone(), bytes.get(range)?))
    }

    /// Returns the payload at offset `at` without comparing it with its checksum, for callers that
    /// only copy it. If the payload is not UTF-8, replaces each byte that is not ASCII by `?`.
    /// Returns `None` if the part that was read does not contain the payload.
    pub(super) fn unchecked(&self, at: usize, len: usize) -> Option<Data> {
        let (_, bytes) = self.part(at, len)?;
        let shown = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { '?' };
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Data::from_checked(text),
            Err(_) => Data::from_checked(bytes.iter().map(shown).collect::<String>()),
        })
    }

    /// Returns the payload at offset `at` of the body. Fails if the part that was read does not
    /// contain the payload, or if the payload does not match the checksum `sum`.
    pub(super) fn payload(&self, at: usize, len: usize, sum: u32) -> Result<Data, String> {
        let (range, bytes) = self.part(at, len).ok_or("its payload is not there")?;
        if crc::payload(bytes) != sum {
            return Err("its payload does not fit its checksum".into());
        }
        if let Content::Text(text) = &self.content
            && let Some(part) = text.get(range)
        {
            return Ok(Data::from_checked(text.slice_ref(part)));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Ok(Data::from_checked(text))
    }
}

/// Checks whether SQLite could not open a blob because the stored value is not a blob. The row is
/// then damaged.
fn is_no_blob(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_ERROR)
}

/// Reads the payloads of chunks. It uses one SQLite blob handle, which it moves from chunk to
/// chunk.
pub(crate) struct Bodies<'c> {
    conn: &'c Connection,
    open: Option<Blob<'c>>,
}

impl<'c> Bodies<'c> {
    pub(crate) fn of(conn: &'c Connection) -> Self {
        Self { conn, open: None }
    }

    /// Opens the blob that contains the payloads of the chunk whose key is `k`.
    fn at(&mut self, k: i64) -> rusqlite::Result<&Blob<'c>> {
        let blob = match self.open.take() {
            Some(mut blob) => {
                blob.reopen(k)?;
                blob
            }
            None => self.conn.blob_open(MAIN_DB, c"chunk", c"body", k, true)?,
        };
        Ok(self.open.insert(blob))
    }
}

thread_local! {
    /// The zstd state with which a thread decompresses all its chunks. Creating a state takes about
    /// as long as decompressing a chunk.
    static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Decompresses `stored`. Returns at most `len` bytes, whatever length the compressed data claims.
fn decompressed(stored: &[u8], len: usize) -> std::io::Result<Vec<u8>> {
    if len > LONGEST {
        return Err(std::io::Error::other(format!("no chunk holds {len} bytes")));
    }
    let mut bytes = Vec::with_capacity(len.min(stored.len().saturating_mul(64)));
    CONTEXT.with_borrow_mut(|context| {
        if context.sizeof() > LARGEST_CONTEXT {
            *context = DCtx::create();
        }
        // This resets the context: a chunk that was damaged or read only in part left it open.
        let decoder = Decoder::with_context(stored, context);
        decoder.take(len as u64).read_to_end(&mut bytes)
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_promises_more_than_a_row_holds_is_not_read() {
        let stored = zstd::bulk::compress(&[b' '; 1_000], LEVEL).unwrap();
        assert_eq!(decompressed(&stored, 1_000).unwrap().len(), 1_000);
        assert_eq!(decompressed(&stored, 10).unwrap().len(), 10);
        let refused = decompressed(&stored, LONGEST + 1).unwrap_err();
        assert!(refused.to_string().contains("1000000001 bytes"), "{refused}");
    }

    #[test]
    fn a_chunk_reads_whole_after_one_that_broke_off() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let stored = zstd::bulk::compress(&text, LEVEL).unwrap();
        for _ in 0..3 {
            assert!(decompressed(&stored[..stored.len() / 2], text.len()).is_err());
            assert_eq!(decompressed(&stored, 10).unwrap(), text[..10]);
            assert!(decompressed(&[7; 100], 100).is_err());
            assert!(decompressed(&stored, text.len()).unwrap() == text);
        }
    }
}
