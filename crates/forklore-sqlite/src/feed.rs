//! The feed: each transaction has a number, and each session stores the numbers of the last
//! transactions that wrote to it.
//!
//! The numbers are columns of a row that every write changes anyway, so an append writes no further
//! page. An index covers only `feed_until`, an upper bound of the numbers that moves ahead in
//! steps, as `fresh_until` does. The reason is that SQLite writes an index whenever an update names
//! its column.

mod changes;
mod numbers;

use forklore_store::feed::{Stamp, What};
use rusqlite::ToSql;

use crate::fault::Result;
use crate::number::signed;
use crate::session::{self, Session};
use crate::write_tx::WriteTx;

pub(crate) use changes::{changes, check_there};
pub(crate) use numbers::{Numbers, check};

/// Maximum of `feed_until` minus the last number of the session.
const RESERVED: u64 = 1 << 10;

/// The transactions that last wrote to a session, as its row stores them. All are empty if the last
/// write was by a version without a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) stamp: Stamp,
    /// An upper bound of the numbers in the stamp.
    pub(crate) until: Option<u64>,
}

impl Written {
    /// Returns the value for a session that the transaction `number` creates.
    pub(crate) fn created(number: u64) -> Self {
        let stamp = Stamp { created: number, ..Stamp::default() };
        Self { stamp, until: Some(number) }
    }

    fn note(&mut self, what: What, number: u64) {
        self.stamp.note(what, number);
        if self.until.is_none_or(|until| until < number) {
            // The bound grows in increasing steps, because most sessions are written to a few times
            // only.
            let age = number.saturating_sub(self.stamp.created.max(1));
            self.until = Some(number + age.min(RESERVED));
        }
    }

    /// Returns the columns of a row, in their order.
    pub(crate) fn columns(&self) -> [Option<i64>; 4] {
        let Stamp { created, appended, changed } = self.stamp;
        let number = |number: u64| (number > 0).then(|| signed(number));
        [number(created), number(appended), number(changed), self.until.map(signed)]
    }
}

/// Updates columns of a session and records the transaction in its feed numbers. `sql` names the
/// columns, followed by `feed_appended` or `feed_changed`, `crc` and `sid`.
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
