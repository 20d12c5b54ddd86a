//! Memory into which the payloads of chunks are read. When no event uses a buffer any more, a later
//! read uses it again.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::row_key::CHUNK_BYTES;

/// Maximum number of idle buffers that a process keeps. A read of one page of events needs about
/// this many.
const MOST: usize = 16;
/// Minimum size in bytes of a buffer that is used again. A smaller one is cheap to allocate.
const SHORTEST: usize = 16 << 10;

/// Size in bytes of a page of the computer's memory.
const PAGE: usize = 4 << 10;

/// Buffers that no event uses. The buffer that was used last is at the end. A read takes a buffer
/// from the end if it fits, because that one is most likely still in the processor's cache.
static IDLE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Memory for the payloads of one chunk. When it is dropped, a later read may use it again. So a
/// long read needs little new memory, which the operating system would have to clear first.
pub(super) struct Buffer {
    memory: Vec<u8>,
    used: Range<usize>,
}

impl Buffer {
    /// Returns a buffer of `len` bytes. Their values are arbitrary. The buffer takes at most twice
    /// as much memory, because an event may keep the memory for long.
    ///
    /// `rest` is the number of bytes of the row that follow after the bytes for this buffer. SQLite
    /// copies a row page by page, and the last page ends where the row ends. Some processors copy
    /// at a fifth of their speed if the copy is only a few bytes further from the start of a memory
    /// page than the original. Therefore the buffer is placed so that the row would end in the
    /// middle of a memory page.
    pub(super) fn of(len: usize, rest: usize) -> Self {
        if len < SHORTEST {
            return vec![0; len].into();
        }
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |memory: &Vec<u8>| (len + PAGE..=2 * len).contains(&memory.len());
        let found = idle.iter().rposition(fits).map(|at| idle.remove(at));
        drop(idle);
        let memory = found.unwrap_or_else(|| vec![0; len + PAGE]);
        let end = memory.as_ptr().addr().wrapping_add(len).wrapping_add(rest);
        let from = (PAGE / 2).wrapping_sub(end) % PAGE;
        Self { memory, used: from..from + len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.get(self.used.clone()).unwrap_or_default()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.used.clone()).unwrap_or_default()
    }

    /// Returns the bytes in a form that many events can share.
    pub(super) fn share(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(memory: Vec<u8>) -> Self {
        let used = 0..memory.len();
        Self { memory, used }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !(SHORTEST..=CHUNK_BYTES + PAGE).contains(&self.memory.len()) {
            return;
        }
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MOST {
            idle.remove(0);
        }
        idle.push(std::mem::take(&mut self.memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_takes_at_most_twice_the_requested_size() {
        for len in [0, 1, SHORTEST, 3 * SHORTEST, CHUNK_BYTES, 2 * CHUNK_BYTES, SHORTEST] {
            let mut buffer = Buffer::of(len, 3);
            assert_eq!((buffer.bytes().len(), buffer.bytes_mut().len()), (len, len));
            assert!(buffer.memory.len() <= 2 * len);
            let end = buffer.bytes().as_ptr().addr() + len + 3;
            assert!(len < SHORTEST || end % PAGE == PAGE / 2);
        }
    }

    #[test]
    fn shared_bytes_stay_as_they_are() {
        let mut buffer = Buffer::of(SHORTEST, 0);
        buffer.bytes_mut().fill(1);
        let shared = buffer.share();
        let part = shared.slice(1..9);
        drop(shared);
        for _ in 0..2 * MOST {
            Buffer::of(SHORTEST, 0).bytes_mut().fill(2);
        }
        assert_eq!(part, [1; 8][..]);
    }
}
