//! The transaction of a reading connection.

use rusqlite::Connection;

/// A read transaction, which ends when this value is dropped. Its statements are cached: rusqlite's
/// own transactions compile `BEGIN` and `ROLLBACK` anew each time, which takes longer than a short
/// read.
#[derive(Debug)]
pub(super) struct ReadTx<'c>(&'c Connection);

impl<'c> ReadTx<'c> {
    pub(super) fn begin(conn: &'c Connection) -> rusqlite::Result<Self> {
        conn.prepare_cached("BEGIN DEFERRED")?.execute([])?;
        Ok(Self(conn))
    }

    pub(super) fn conn(&self) -> &'c Connection {
        self.0
    }
}

impl Drop for ReadTx<'_> {
    fn drop(&mut self) {
        if self.0.is_autocommit() {
            return;
        }
        // A connection that cannot end its transaction fails at its next use, and says why.
        let _ = self.0.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
    }
}
