//! Reads a file line by line from any offset, forward or backward.

use std::io;
use std::ops::Range;

use crate::fs::File;

/// Number of bytes that a reader of lines reads at once. A longer line is read as a whole.
const BLOCK: u64 = 64 << 10;
/// Maximum length of a line in bytes. It suffices for the longest imported payload with the event's
/// other fields.
const LONGEST: u64 = 512 << 20;

/// Reads the lines of a file. It buffers one block of the file.
pub(crate) struct Lines<'f> {
    file: &'f dyn File,
    block: Vec<u8>,
    at: u64,
}

impl<'f> Lines<'f> {
    pub(crate) fn of(file: &'f dyn File) -> Self {
        Self { file, block: Vec::new(), at: 0 }
    }

    /// Returns the line that begins at the offset `at`, with its line feed. If the line has no end
    /// before the offset `end`, returns the bytes up to `end`. Returns `None` if `at` is not before
    /// `end`.
    pub(crate) fn forward(&mut self, at: u64, end: u64) -> io::Result<Option<&[u8]>> {
        if at >= end {
            return Ok(None);
        }
        let found = loop {
            let window = self.within(at, end);
            let bytes = self.block.get(window.clone()).unwrap_or_default();
            match memchr::memchr(b'\n', bytes) {
                Some(feed) => break window.start..window.start + feed + 1,
                None if at + bytes.len() as u64 >= end => break window,
                None => {}
            }
            let before = window.len();
            let want = BLOCK.max(2 * before as u64);
            self.load(at, want.min(end - at))?;
            if self.within(at, end).len() <= before {
                break self.within(at, end);
            }
        };
        Ok(self.block.get(found).filter(|line| !line.is_empty()))
    }

    /// Returns the line that ends at the offset `end`, and the offset at which it begins. Returns
    /// `None` if `end` is not after `start`, the offset of the first line.
    pub(crate) fn backward(&mut self, start: u64, end: u64) -> io::Result<Option<(u64, &[u8])>> {
        if start >= end {
            return Ok(None);
        }
        let mut want = BLOCK;
        let found = loop {
            let from = self.at.clamp(start, end);
            let window = self.within(from, end);
            let whole = from + window.len() as u64 == end && !window.is_empty();
            let bytes = self.block.get(window.clone()).unwrap_or_default();
            // Skip the line's own line feed.
            let inner = bytes.get(..bytes.len().saturating_sub(1)).unwrap_or_default();
            match memchr::memrchr(b'\n', inner) {
                Some(feed) if whole => break window.start + feed + 1..window.end,
                None if whole && from == start => break window,
                _ => {}
            }
            let from = end.saturating_sub(want).max(start);
            self.load(from, end - from)?;
            if self.at + (self.block.len() as u64) < end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            want *= 2;
        };
        let begins = self.at + found.start as u64;
        Ok(self.block.get(found).map(|line| (begins, line)))
    }

    /// Returns the offset of the first line that begins at or after `at`. Returns `end` if no line
    /// does. `start` is the offset of the first line to consider.
    pub(crate) fn boundary(&mut self, start: u64, at: u64, end: u64) -> io::Result<u64> {
        if at <= start {
            return Ok(start);
        }
        let rest = self.forward(at - 1, end)?.map_or(1, |rest| rest.len() as u64);
        Ok(at - 1 + rest)
    }

    /// Returns the range of the buffered block that corresponds to the offsets `from` to `to` of
    /// the file. The range is empty if the block does not contain `from`.
    fn within(&self, from: u64, to: u64) -> Range<usize> {
        let last = self.at + self.block.len() as u64;
        if from < self.at || from >= last {
            return 0..0;
        }
        let index = |at: u64| usize::try_from(at - self.at).unwrap_or(usize::MAX);
        index(from)..index(to.min(last))
    }

    fn load(&mut self, at: u64, len: u64) -> io::Result<()> {
        if len > 2 * LONGEST {
            let message = "a line of it is longer than any line can be";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        // Allocating zeroed memory is cheaper than overwriting the old block with zeros.
        self.block = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = self.file.read_at(&mut self.block, at);
        self.block.truncate(*read.as_ref().unwrap_or(&0));
        self.at = at;
        read.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_are_found_from_both_ends_and_anywhere() {
        let lengths = [0, 1, 5, 70_000, 3, 200_000, 190_000, 300_000, 65_535, 65_536, 0, 0, 12];
        let lines: Vec<Vec<u8>> =
            lengths.iter().map(|length| [vec![b'x'; *length], vec![b'\n']].concat()).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&lines.concat()).unwrap();
        let end = lines.concat().len() as u64;
        let mut reader = Lines::of(&file);
        let (mut at, mut starts) = (0, Vec::new());
        for line in &lines {
            starts.push(at);
            assert_eq!(reader.forward(at, end).unwrap(), Some(&line[..]));
            at += line.len() as u64;
        }
        assert_eq!(reader.forward(at, end).unwrap(), None);
        for (line, start) in lines.iter().zip(&starts).rev() {
            assert_eq!(reader.backward(0, at).unwrap(), Some((*start, &line[..])));
            at = *start;
        }
        assert_eq!(reader.backward(0, 0).unwrap(), None);
        for probe in (0..end).step_by(997) {
            let next = starts.iter().find(|start| **start >= probe).copied().unwrap_or(end);
            assert_eq!(reader.boundary(0, probe, end).unwrap(), next, "{probe}");
        }
    }

    #[test]
    fn a_last_line_may_lack_its_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntw").unwrap();
        let mut reader = Lines::of(&file);
        assert_eq!(reader.forward(4, 6).unwrap(), Some(&b"tw"[..]));
        assert_eq!(reader.backward(0, 6).unwrap(), Some((4, &b"tw"[..])));
        assert_eq!(reader.boundary(0, 5, 6).unwrap(), 6);
    }
}
