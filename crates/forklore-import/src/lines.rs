//! Splits a file into lines. It needs constant memory plus the length of the longest line.

use std::io::{self, Read};

use bytes::Bytes;
use forklore_core::limits::IMPORTED_LINE_BYTES;

use crate::blocks::{BLOCK, Blocks};

/// Maximum size in bytes of one piece of a line that is too long to be a record. Such a line is
/// read in pieces.
const STRETCH: usize = 4 << 20;

/// Number of bytes of a line that are read before its length is looked up. A line that turns out to
/// be too long is then read in pieces from its beginning, and is never in memory as a whole.
const LOOKED_UP: usize = 8 << 20;

/// Checks whether the line that begins at this byte of the input is too long for a record, without
/// reading the line into memory.
pub(crate) type LengthCheck<'a> = Box<dyn Fn(u64) -> io::Result<bool> + 'a>;

/// Consecutive bytes of a file: a whole line or a part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A complete line, including its line feed.
    Line(Bytes),
    /// The bytes after the file's last line feed.
    Tail(Bytes),
    /// A part of a line that is too long to be read as a record.
    Long {
        bytes: Bytes,
        /// Whether the long line begins with this part.
        first: bool,
        /// Whether the long line ends with this part.
        last: bool,
    },
}

/// Splits an input into lines, and lines that are too long for a record into parts.
pub(crate) struct Lines<'a, R> {
    input: R,
    length_check: Option<LengthCheck<'a>>,
    /// The number of bytes of the input that were returned.
    returned: u64,
    /// Whether the line that is being read is too long for a record. `None` until the length of the
    /// line was looked up.
    looked_up: Option<bool>,
    blocks: Blocks,
    block: Bytes,
    /// The index in `block` of the first byte that was not returned yet. There is no line feed
    /// between `start` and `searched`.
    start: usize,
    searched: usize,
    /// Whether the bytes already returned end inside a line that is too long for a record.
    pub(crate) in_long: bool,
    /// The size in bytes of a memory block: [`BLOCK`], or less if the input is shorter.
    block_size: usize,
    most: usize,
}

impl<'a, R: Read> Lines<'a, R> {
    /// Creates a reader of the lines of `input`, which has about `len` bytes. `in_long` means that
    /// `input` begins inside a line that is too long for a record.
    pub(crate) fn new(
        input: R,
        len: u64,
        in_long: bool,
        length_check: Option<LengthCheck<'a>>,
    ) -> Self {
        // One byte more, so that the end of the input is found with the first block.
        let block_size = usize::try_from(len).map_or(BLOCK, |len| BLOCK.min(len.saturating_add(1)));
        Self {
            input,
            length_check,
            returned: 0,
            looked_up: None,
            blocks: Blocks::default(),
            block: Bytes::new(),
            start: 0,
            searched: 0,
            in_long,
            block_size,
            most: IMPORTED_LINE_BYTES,
        }
    }

    #[cfg(test)]
    fn with_most(input: R, most: usize) -> Self {
        Self { most, ..Self::new(input, u64::MAX, false, None) }
    }

    /// Returns the next line, or the next part of a line that is too long. Returns `None` at the
    /// end of the input. Only the last piece can be a [`Piece::Tail`].
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let unsearched = self.block.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                let end = self.searched + at + 1;
                return Ok(Some(self.hand_out(end, true)));
            }
            self.searched = self.block.len();
            let waiting = self.searched - self.start;
            let is_long = waiting > self.most || self.is_too_long(waiting)?;
            if is_long || (self.in_long && waiting > 0) {
                let end = self.searched.min(self.start + STRETCH);
                return Ok(Some(self.hand_out(end, false)));
            }
            if self.fill()? == 0 {
                if waiting == 0 {
                    return Ok(None);
                }
                let start = std::mem::replace(&mut self.start, self.searched);
                return Ok(Some(Piece::Tail(self.block.slice(start..))));
            }
        }
    }

    /// Checks whether the line of which `waiting` bytes were read is too long for a record. The
    /// length of a line is looked up once, and only if many of its bytes were read.
    fn is_too_long(&mut self, waiting: usize) -> io::Result<bool> {
        if self.in_long || waiting < LOOKED_UP {
            return Ok(false);
        }
        let Some(length_check) = &self.length_check else { return Ok(false) };
        let is_too_long = match self.looked_up {
            Some(is_too_long) => is_too_long,
            None => length_check(self.returned)?,
        };
        self.looked_up = Some(is_too_long);
        Ok(is_too_long)
    }

    fn hand_out(&mut self, end: usize, last: bool) -> Piece {
        let start = std::mem::replace(&mut self.start, end);
        self.returned += (end - start) as u64;
        self.looked_up = None;
        self.searched = self.searched.max(end);
        if last {
            self.searched = end;
        }
        let bytes = self.block.slice(start..end);
        let long = self.in_long || bytes.len() > self.most + 1;
        if last && !long {
            return Piece::Line(bytes);
        }
        let first = !std::mem::replace(&mut self.in_long, !last);
        Piece::Long { bytes, first, last }
    }

    /// Reads a new block of input, and returns how many bytes in it are new. The block begins with
    /// the bytes not returned yet. It has twice the size of those bytes, but at least `block_size`,
    /// so that long lines need few copies.
    fn fill(&mut self) -> io::Result<usize> {
        let begun = self.block.get(self.start..).unwrap_or_default();
        let most = self.most.saturating_add(BLOCK);
        let size = (2 * begun.len()).clamp(self.block_size, most.max(begun.len() + BLOCK));
        let begun_len = begun.len();
        let block = if begun_len > BLOCK && self.start == 0 {
            Blocks::grow(&mut self.input, std::mem::take(&mut self.block), size)?
        } else {
            self.blocks.read(&mut self.input, begun, size)?
        };
        self.searched -= self.start;
        self.start = 0;
        self.block = block;
        Ok(self.block.len() - begun_len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8], most: usize) -> Vec<(char, Vec<u8>)> {
        let mut lines = Lines::with_most(bytes, most);
        let mut found = Vec::new();
        while let Some(piece) = lines.next().unwrap() {
            found.push(match piece {
                Piece::Line(bytes) => ('l', bytes.to_vec()),
                Piece::Tail(bytes) => ('t', bytes.to_vec()),
                Piece::Long { bytes, .. } => ('x', bytes.to_vec()),
            });
        }
        found
    }

    #[test]
    fn every_byte_is_handed_out_once() {
        let text = b"\n{}\nab\r\n\n\0\nlast";
        let all = pieces(text, 100);
        let kinds: String = all.iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, "lllllt");
        assert_eq!(all.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(), text);
        assert_eq!(pieces(b"", 100), []);
    }

    #[test]
    fn a_line_that_is_looked_up_is_never_whole_in_memory() {
        let long = vec![b'x'; 4 * LOOKED_UP];
        let text = [b"short\n", long.as_slice(), b"\nlast\n"].concat();
        let positions = std::cell::RefCell::new(Vec::new());
        let length_check: LengthCheck<'_> = Box::new(|at| {
            positions.borrow_mut().push(at);
            Ok(true)
        });
        let mut lines = Lines::new(text.as_slice(), u64::MAX, false, Some(length_check));
        let (mut kinds, mut largest) = (String::new(), 0);
        let mut all = Vec::new();
        while let Some(piece) = lines.next().unwrap() {
            largest = largest.max(lines.block.len());
            let (kind, bytes) = match piece {
                Piece::Line(bytes) => ('l', bytes),
                Piece::Tail(bytes) => ('t', bytes),
                Piece::Long { bytes, .. } => ('x', bytes),
            };
            kinds.push(kind);
            all.extend_from_slice(&bytes);
        }
        assert_eq!((kinds.replace('x', ""), all == text), ("ll".to_owned(), true));
        assert!(largest <= 2 * LOOKED_UP + BLOCK, "{largest}");
        drop(lines);
        assert_eq!(positions.into_inner(), [6]);
    }

    #[test]
    fn long_lines_come_in_stretches() {
        let mut text = vec![b'x'; 3 * STRETCH];
        text.extend(b"\nshort\nlonger than ten\ntail");
        let all = pieces(&text, 10);
        let kinds: String = all.iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds.trim_start_matches('x'), "lxt");
        assert_eq!(all.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(), text);
    }
}
