//! Checksums of rows. Each field is added with its length, so that no two rows look alike.

/// The sum of the fields so far.
#[derive(Default)]
pub(crate) struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn optional(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.number(1).text(text),
            None => self.number(0),
        }
    }

    pub(crate) fn number(mut self, number: i64) -> Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    pub(crate) fn sum(self) -> i64 {
        i64::from(self.0.finalize())
    }
}
