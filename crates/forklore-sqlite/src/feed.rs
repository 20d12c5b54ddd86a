//! The feed: each write transaction has a number. Each session's row stores the numbers of the
//! transactions that created it, last appended to it and last changed it.
//!
//! Every write to a session rewrites the session's row anyway. To store the numbers there, an
//! append therefore writes no further page. SQLite writes an index whenever an update names an
//! indexed column. Therefore only `feed_until` has an index: an upper bound of the numbers that
//! increases in steps. Most appends need not change it.

mod changes;
mod numbers;

use forklore_store::feed::{Stamp, What};
use rusqlite::ToSql;

use crate::fault::Result;
use crate::integer::signed;
use crate::session::{self, Session};
use crate::write_tx::WriteTx;

pub(crate) use changes::{changes, check_there};
pub(crate) use numbers::{Numbers, check, renew};

/// Maximum by which a session's column `feed_until` exceeds the number of the session's last
/// transaction. The column has an index. Because the column may be ahead of that number, most
/// appends need not change the column.
const RESERVED: u64 = 1 << 10;

/// The numbers of the transactions that created, last appended to and last changed a session. They
/// are 0 if no version of forklore with a feed (the sequence of changed sessions) has written the
/// session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) stamp: Stamp,
    /// An upper bound of the transaction numbers in `stamp`.
    pub(crate) until: Option<u64>,
}

impl Written {
    /// Returns the transaction numbers to store for a new session, which the transaction `number`
    /// creates.
    pub(crate) fn created(number: u64) -> Self {
        let stamp = Stamp { created: number, ..Stamp::default() };
        Self { stamp, until: Some(number) }
    }

    fn note(&mut self, what: What, number: u64) {
        self.stamp.note(what, number);
        if self.until.is_none_or(|until| until < number) {
            // The steps of the bound grow with the age of the session, because most sessions are
            // written to only a few times.
            let age = number.saturating_sub(self.stamp.created.max(1));
            self.until = Some(number + age.min(RESERVED));
        }
    }

    /// Returns the transaction numbers as values for the feed columns of a session's row, in the
    /// order of these columns. A value is `None` if there is no such transaction.
    pub(crate) fn columns(&self) -> [Option<i64>; 4] {
        let Stamp { created, appended, changed } = self.stamp;
        let number = |number: u64| (number > 0).then(|| signed(number));
        [number(created), number(appended), number(changed), self.until.map(signed)]
    }
}

/// Updates columns of a session's row, and records there that this transaction wrote to the
/// session. `sql` is an `UPDATE`. Its parameters are `values`, then the column `feed_appended` or
/// `feed_changed` (which `what` selects), then `crc` and `sid`.
pub(crate) fn update(
    tx: &WriteTx<'_>,
    session: &mut Session,
    what: What,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<()> {
    let until = session.written.until;
    session.written.note(what, tx.number);
    let number = signed(tx.number);
    let mut all = values.to_vec();
    all.push(&number);
    session::update(tx, session, sql, &all)?;
    if session.written.until != until {
        let until = session.written.until.map(signed);
        tx.write("UPDATE session SET feed_until = ? WHERE sid = ?", &[&until, &session.sid])?;
    }
    Ok(())
}
