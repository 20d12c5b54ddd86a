//! A file mapped into memory: the one place here that needs `unsafe`.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Doing, Result};

/// The bytes of a file without reading it.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps a file that this run has written itself, in a folder of its own.
    #[allow(unsafe_code, reason = "mapping a file is unsafe whatever the crate")]
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let file = File::open(path).doing("cannot open", path)?;
        // SAFETY: the bytes must not change while they are borrowed. The file lies in a folder made
        // for this run under a name of its own, was written to its end before, and nothing writes
        // to it or truncates it again.
        let map = unsafe { Mmap::map(&file) };
        Ok(Self(map.doing("cannot map", path)?))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
