//! The memory blocks into which a file is read. The payloads of events are slices of the blocks, so
//! they are not copied. A block is reused after the store has written every event that refers to
//! the block.

use std::io::{self, Read};

use bytes::{Bytes, BytesMut};

/// The size in bytes of a memory block into which a file is read. A longer line gets a larger
/// block.
pub(crate) const BLOCK: usize = 1 << 20;
/// Maximum number of memory blocks that are retained for reuse. It is enough for the blocks of two
/// import steps.
const WAITING: usize = 24;

/// The memory blocks that are retained for reuse. A block may still be in use by events that refer
/// to its bytes.
#[derive(Default)]
pub(crate) struct Blocks(Vec<Bytes>);

impl Blocks {
    /// Returns a memory block of `size` bytes: the bytes `begun`, followed by bytes read from
    /// `input`. The block is shorter than `size` only at the end of the input.
    pub(crate) fn read(
        &mut self,
        input: &mut impl Read,
        begun: &[u8],
        size: usize,
    ) -> io::Result<Bytes> {
        let mut block = self.free(size);
        block.get_mut(..begun.len()).unwrap_or_default().copy_from_slice(begun);
        let (whole, read) = fill(input, block, begun.len())?;
        if size == BLOCK && self.0.len() < WAITING {
            self.0.push(whole);
        }
        Ok(read)
    }

    /// Returns `begun` with more bytes read from `input`, up to `size` bytes in total. A long line
    /// grows in place, so that it is not in memory twice.
    pub(crate) fn grow(input: &mut impl Read, begun: Bytes, size: usize) -> io::Result<Bytes> {
        let len = begun.len();
        let mut block = begun.try_into_mut().unwrap_or_else(|begun| BytesMut::from(&*begun));
        block.resize(size.max(len), 0);
        Ok(fill(input, block, len)?.1)
    }

    /// Takes a retained memory block to which nothing refers any more, or allocates a new block of
    /// `size` bytes.
    fn free(&mut self, size: usize) -> BytesMut {
        if size == BLOCK
            && let Some(at) = self.0.iter().position(Bytes::is_unique)
            && let Ok(block) = self.0.swap_remove(at).try_into_mut()
        {
            return block;
        }
        BytesMut::zeroed(size)
    }
}

/// Fills a block from `input`, beginning after its first `filled` bytes. Returns the whole block,
/// and the part of it that is filled.
fn fill(
    input: &mut impl Read,
    mut block: BytesMut,
    mut filled: usize,
) -> io::Result<(Bytes, Bytes)> {
    while let Some(space) = block.get_mut(filled..).filter(|space| !space.is_empty()) {
        match input.read(space) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let whole = block.freeze();
    let read = whole.slice(..filled);
    Ok((whole, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_reused_once_nothing_refers_to_it() {
        let mut blocks = Blocks::default();
        let mut input = io::repeat(b'x');
        let slice = blocks.read(&mut input, b"begun", BLOCK).unwrap().slice(3..6);
        let other = blocks.read(&mut input, b"", BLOCK).unwrap();
        assert_eq!((slice.as_ref(), other.len(), blocks.0.len()), (&b"unx"[..], BLOCK, 2));
        let pointer = other.as_ptr();
        drop(other);
        let again = blocks.read(&mut &b"short"[..], b"", BLOCK).unwrap();
        assert_eq!((again.as_ref(), again.as_ptr(), blocks.0.len()), (&b"short"[..], pointer, 2));
        assert_eq!(slice.as_ref(), b"unx");
    }
}
