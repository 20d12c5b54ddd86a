//! The feed: each transaction has a number, and each session the numbers of those that wrote to it.
//!
//! A number is a column of the row that a write changes anyway, so an append costs no page more.
//! The row is found by a bound that lies ahead of its numbers and moves in steps, like
//! `fresh_until`: naming the column in an update makes SQLite write its index.

mod changes;
mod numbers;

use forklore_store::feed::{Stamp, What};
use rusqlite::ToSql;

use crate::fault::Result;
use crate::number::signed;
use crate::session::{self, Session};
use crate::write::WriteTx;

pub(crate) use changes::{changes, check_there};
pub(crate) use numbers::{Numbers, check};

/// How far `feed_until` may lie ahead of the numbers of a session.
const RESERVED: u64 = 1 << 10;

/// When a session was written to, as its row says; all none where that was before there were feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) stamp: Stamp,
    /// No number of the stamp lies behind it.
    pub(crate) until: Option<u64>,
}

impl Written {
    /// Of a session that the transaction `number` makes.
    pub(crate) fn created(number: u64) -> Self {
        let stamp = Stamp { created: number, ..Stamp::default() };
        Self { stamp, until: Some(number) }
    }

    fn note(&mut self, what: What, number: u64) {
        self.stamp.note(what, number);
        if self.until.is_none_or(|until| until < number) {
            // In growing steps: most sessions are written to a few times and never again.
            let age = number.saturating_sub(self.stamp.created.max(1));
            self.until = Some(number + age.min(RESERVED));
        }
    }

    /// The columns of a row, in their order.
    pub(crate) fn columns(&self) -> [Option<i64>; 4] {
        let Stamp { created, appended, changed } = self.stamp;
        let number = |number: u64| (number > 0).then(|| signed(number));
        [number(created), number(appended), number(changed), self.until.map(signed)]
    }
}

/// Writes columns of a session as the transaction of a write does. `sql` names them, and then
/// `feed_appended` or `feed_changed`, `crc` and `sid`.
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
