//! Tools that the fuzz targets share: an engine, and a reader that splits the fuzzer's input.

use std::sync::Arc;

use forklore::Engine;
use forklore::store::memory::MemoryStore;

/// Returns an engine over an empty memory store.
#[must_use]
pub fn engine() -> Engine {
    Engine::new(Arc::new(MemoryStore::default())).with_agent_formats(forklore::formats::AGENT_FORMATS)
}

/// Reads numbers and texts from the front of the fuzzer's input. At the end of the input, all
/// numbers are 0 and all texts are empty.
#[derive(Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Returns the next byte, or 0 at the end of the input.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns a number, so that small numbers are common. A first byte below 200 is the number;
    /// otherwise the next eight bytes are the number, little endian.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..=199 => i64::from(small),
            _ => {
                let mut bytes = [0; 8];
                bytes.iter_mut().for_each(|byte| *byte = self.byte());
                i64::from_le_bytes(bytes)
            }
        }
    }

    /// Returns the bytes before the next zero byte, and skips that zero byte.
    pub fn bytes(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (accepted, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        accepted
    }

    /// Returns the bytes before the next zero byte as text. Invalid UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Checks whether the whole input was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
