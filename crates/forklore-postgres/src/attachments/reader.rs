//! Reads the parts of an attachment one by one.

use std::io::{self, Read};
use std::sync::Arc;

use crate::connection::{number, text};
use crate::shared::Shared;

/// A reader of the parts of an upload.
pub(super) struct Parts {
    shared: Arc<Shared>,
    upload: String,
    /// How many bytes are not read yet.
    left: u64,
    next: i64,
    part: io::Cursor<Vec<u8>>,
}

impl Parts {
    pub(super) fn of(shared: Arc<Shared>, upload: String, length: u64) -> Self {
        Self { shared, upload, left: length, next: 0, part: io::Cursor::default() }
    }

    fn fetch(&self) -> io::Result<Option<Vec<u8>>> {
        let tenant = self.shared.tenant();
        let sql = "SELECT bytes FROM forklore.attachment_part
             WHERE tenant = $1 AND upload = $2 AND part = $3";
        let values = [text(&tenant), text(&self.upload), number(&self.next)];
        let fetched = self.shared.read("reading an attachment of", |connection| {
            let row = connection.row(sql, &values)?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        });
        fetched.map_err(io::Error::other)
    }
}

impl Read for Parts {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.part.read(into)?;
            if read > 0 {
                self.left = self.left.saturating_sub(read as u64);
                return Ok(read);
            }
            if self.left == 0 {
                return Ok(0);
            }
            // Bytes that are gone are damage, which the digest of the attachment reveals.
            let Some(part) = self.fetch()? else { return Ok(0) };
            self.next += 1;
            self.part = io::Cursor::new(part);
        }
    }
}
