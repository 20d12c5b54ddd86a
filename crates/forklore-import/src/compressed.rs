//! Decompresses zstd files. An import treats a compressed file as its decompressed content
//! (docs/semantics.md, Sources).

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read};

use zstd::stream::read::Decoder;

use crate::report::ProblemKind;

/// The first 4 bytes of a zstd file.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Limits decompression to `TIMES` times the size of the compressed file plus [`SPARE`] bytes.
/// Compression makes sessions ten to fifty times smaller; a file that expands far more was made to
/// fill a disk.
const TIMES: u64 = 256;
const SPARE: u64 = 64 << 20;

/// The reason why decompression stopped before the end of a file; `None` if it did not stop.
pub(crate) type Trouble = RefCell<Option<(ProblemKind, String)>>;

/// Checks by the first bytes of a file whether the file is compressed with zstd.
pub(crate) fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// Reads the decompressed content of a file. The content ends early if the file is damaged or
/// expands beyond the limit; `trouble` then contains the reason.
pub(crate) struct Unpacked<'a> {
    decoder: Decoder<'static, BufReader<File>>,
    left: u64,
    trouble: &'a Trouble,
}

impl<'a> Unpacked<'a> {
    /// Creates a reader of the decompressed content of `file`, which must be positioned at its
    /// beginning. `size` is the compressed size in bytes. Clears `trouble`; if the content ends
    /// early, the reader writes the reason into it.
    pub(crate) fn new(file: File, size: u64, trouble: &'a Trouble) -> io::Result<Self> {
        trouble.replace(None);
        let left = size.saturating_mul(TIMES).saturating_add(SPARE);
        Ok(Self { decoder: Decoder::new(file)?, left, trouble })
    }

    fn end(&self, kind: ProblemKind, why: String) -> usize {
        self.trouble.replace(Some((kind, why)));
        0
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.trouble.borrow().is_some() {
            return Ok(0);
        }
        let space = usize::try_from(self.left).map_or(out.len(), |left| left.min(out.len()));
        let mut one_more = [0];
        let out = if self.left == 0 && !out.is_empty() {
            one_more.as_mut_slice()
        } else {
            out.get_mut(..space).unwrap_or_default()
        };
        match self.decoder.read(out) {
            Ok(1..) if self.left == 0 => {
                let why = "what is in the file is too much for its size; it is read so far only";
                Ok(self.end(ProblemKind::TooLarge, why.to_owned()))
            }
            Ok(read) => {
                self.left -= read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let why = format!("the compressed file cannot be read on: {error}");
                Ok(self.end(ProblemKind::Damage, why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn unpack(bytes: &[u8]) -> (Vec<u8>, Option<ProblemKind>) {
        let trouble = Trouble::default();
        let mut content = Vec::new();
        let mut unpacked = Unpacked::new(file(bytes), bytes.len() as u64, &trouble).unwrap();
        unpacked.read_to_end(&mut content).unwrap();
        (content, trouble.take().map(|(kind, _)| kind))
    }

    #[test]
    fn content_ends_where_it_can_no_longer_be_read() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let packed = zstd::encode_all(text.as_slice(), 3).unwrap();
        assert!(is_packed(&packed));
        assert_eq!(unpack(&packed), (text.clone(), None));
        let two = [packed.as_slice(), &packed].concat();
        assert_eq!(unpack(&two).0.len(), 2 * text.len());
        let (part, why) = unpack(&packed[..packed.len() / 2]);
        assert!(text.starts_with(&part) && !part.is_empty() && part.len() < text.len());
        assert_eq!(why, Some(ProblemKind::Damage));
        assert_eq!(
            unpack(&[&packed[..4], b"garbage"].concat()),
            (vec![], Some(ProblemKind::Damage))
        );
    }

    #[test]
    fn a_bomb_is_read_only_so_far() {
        let bomb = zstd::encode_all(io::repeat(b'x').take(1 << 30), 1).unwrap();
        let most = usize::try_from(SPARE).unwrap() + 256 * bomb.len();
        let trouble = Trouble::default();
        let mut unpacked = Unpacked::new(file(&bomb), bomb.len() as u64, &trouble).unwrap();
        let read = io::copy(&mut unpacked, &mut io::sink()).unwrap();
        assert_eq!((read, read < 1 << 30), (most as u64, true));
        assert_eq!(trouble.take().map(|(kind, _)| kind), Some(ProblemKind::TooLarge));
    }
}
