//! A memory-mapped file. This is the only module of this crate that needs `unsafe`.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Doing, Result};

/// The content of a file, mapped into memory.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps a file into memory. This benchmark run must have written the file in its own directory,
    /// so that nothing changes it while it is mapped.
    #[allow(unsafe_code, reason = "mapping a file is unsafe whatever the crate")]
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let file = File::open(path).doing("cannot open", path)?;
        // SAFETY: the bytes must not change while they are borrowed. The file is in a directory
        // created for this run under a unique name, is completely written, and nothing writes to it
        // or truncates it again.
        let map = unsafe { Mmap::map(&file) };
        Ok(Self(map.doing("cannot map", path)?))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
