//! What the fuzz targets share: stores to write to, and bytes taken apart.

use std::sync::Arc;

use forklore::Engine;
use forklore::store::memory::MemoryStore;

/// The verbs over an empty store that lives in memory.
#[must_use]
pub fn engine() -> Engine {
    Engine::new(Arc::new(MemoryStore::default())).with_agent_formats(forklore::formats::AGENT_FORMATS)
}

/// Takes small numbers and texts off the front of the input; at its end it gives zeros.
#[derive(Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// The next eight bytes as a number; of a first byte below 200 that number itself, so that
    /// small ones are common.
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

    /// The bytes before the next zero.
    pub fn bytes(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (accepted, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        accepted
    }

    /// The same as text; what is no UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
