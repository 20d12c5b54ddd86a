//! The feed: the sessions that were written to after a mark.
//!
//! Transactions get their numbers in one order and end in another. A page therefore ends before the
//! oldest transaction that has not ended: every later one with a smaller number is still to come.

use std::time::{Duration, Instant};

use forklore_core::SessionId;
use forklore_store::Error;
use forklore_store::feed::{At, Position, Stamp, commit_page, list_page};
use forklore_store::meter::{Meter, Timing};
use forklore_store::port::{Changes, SessionChange, Since};
use tokio_postgres::Row;

use crate::connection::{number, text};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::{signed, unsigned};
use crate::operation::most;
use crate::session::LIVING;

/// How long a reader waits for the transactions that were not over when it began, so that it finds
/// what was acknowledged before. If one takes longer, its changes come with a later page.
const OTHERS: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
/// The longest pause. A transaction that takes long must not make every reader ask all the time.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// How far the feed has come.
struct Horizon {
    /// All transactions before this one have ended.
    next: u64,
    /// The transaction after the last one that wrote a session that is visible now.
    written: u64,
}

/// Returns the changes after a position, without waiting for new ones.
pub(crate) fn changes(
    database: Database<'_>,
    meter: &Meter,
    identity: &str,
    since: &Since,
    limit: usize,
) -> Result<Changes> {
    let horizon = reached(database, identity)?;
    let ended = horizon.next.saturating_sub(1);
    // A server that takes over may use the numbers of transactions again that were not committed. So
    // a mark goes no further than what is committed, which a standby has confirmed.
    let last = horizon.next.min(horizon.written).saturating_sub(1);
    let position = match since {
        Since::Now => Position::behind(identity, 0, last),
        Since::Beginning => {
            let at = At::Listed(String::new());
            Position { at, ..Position::behind(identity, 0, last) }
        }
        Since::Mark(mark) => {
            let position = Position::of(mark, identity)?;
            if position.base > ended {
                let message = "the database was put back to an earlier state".into();
                return Err(Error::MarkExpired { mark: mark.clone(), message }.into());
            }
            position
        }
    };
    match &position.at {
        At::Listed(behind) => {
            let list = listed(database, behind, most(limit))?;
            Ok(list_page(&position, list, limit, last))
        }
        At::Commit(number, session) => {
            let found = committed(database, &position, (*number, *session), &horizon, most(limit))?;
            // A limit of 0 is none.
            let page = if limit == 0 { found.len() } else { limit };
            let lags = found.iter().take(page).filter_map(|one| one.lag);
            lags.for_each(|lag| meter.time(Timing::FeedLag, lag));
            let found = found.into_iter().map(|one| (one.at, one.change)).collect();
            Ok(commit_page(&position, found, limit, last))
        }
    }
}

/// Waits until the transactions that were visible when it was called are part of the feed.
fn reached(database: Database<'_>, identity: &str) -> Result<Horizon> {
    let mut horizon = horizon(database, identity)?;
    let (written, begun, mut pause) = (horizon.written, Instant::now(), PAUSE);
    while horizon.next < written && begun.elapsed() < OTHERS {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        horizon = self::horizon(database, identity)?;
    }
    Ok(horizon)
}

fn horizon(database: Database<'_>, identity: &str) -> Result<Horizon> {
    let sql = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::int8,
             (SELECT max(written_in) FROM forklore.session WHERE tenant = $1),
             (SELECT id FROM forklore.store WHERE tenant = $1)";
    let row = database.connection.row(sql, &[text(&database.tenant)])?;
    let gone = || Error::StoreGone { location: format!("of the tenant {}", database.tenant) };
    let row = row.ok_or_else(gone)?;
    let id: Option<String> = row.try_get(2)?;
    if id.as_deref() != Some(identity) {
        return Err(gone().into());
    }
    let written: Option<i64> = row.try_get(1)?;
    Ok(Horizon {
        next: unsigned(row.try_get(0)?),
        written: written.map_or(0, |written| unsigned(written) + 1),
    })
}

/// Returns the living sessions behind a key, in the order of their keys.
fn listed(
    database: Database<'_>,
    behind: &str,
    limit: i64,
) -> Result<Vec<(String, SessionChange)>> {
    let sql = format!(
        "SELECT {CHANGE}, k.folded FROM forklore.name k
         JOIN forklore.session s ON s.tenant = k.tenant AND s.family = k.family AND s.id = k.id
         WHERE k.tenant = $1 AND k.folded > $2 AND s.state = {LIVING}
         ORDER BY k.folded LIMIT $3"
    );
    let values = [text(&database.tenant), text(&behind), number(&limit)];
    let rows = database.connection.rows(&sql, &values)?;
    let change = |row: &Row| {
        let seen = Seen::of(row)?;
        let change = SessionChange {
            session: seen.session,
            head_seq: seen.head_seq,
            created: true,
            appended: false,
            changed: false,
            removed: false,
        };
        Ok((row.try_get(6)?, change))
    };
    rows.iter().map(change).collect()
}

/// A change, and where it is in the feed.
struct Found {
    at: (u64, u64),
    change: SessionChange,
    /// How long ago it was written, by the server's clock, if it was an append.
    lag: Option<Duration>,
}

/// Returns the sessions whose last commit is behind a position of the feed.
fn committed(
    database: Database<'_>,
    position: &Position,
    (transaction, session): (u64, u64),
    horizon: &Horizon,
    limit: i64,
) -> Result<Vec<Found>> {
    let sql = format!(
        "SELECT {CHANGE}, s.written_in, s.written_as,
             CASE WHEN s.appended_in = s.written_in
                  THEN (extract(epoch FROM clock_timestamp()) * 1000000)::int8 - s.updated END
         FROM forklore.session s
         WHERE s.tenant = $1 AND (s.written_in, s.written_as) > ($2, $3) AND s.written_in < $4
         ORDER BY s.written_in, s.written_as LIMIT $5"
    );
    let (transaction, session) = (signed(transaction), signed(session));
    let next = signed(horizon.next);
    let values = [
        text(&database.tenant),
        number(&transaction),
        number(&session),
        number(&next),
        number(&limit),
    ];
    let rows = database.connection.rows(&sql, &values)?;
    let change = |row: &Row| {
        let seen = Seen::of(row)?;
        let at = (unsigned(row.try_get(6)?), unsigned(row.try_get(7)?));
        let Seen { session, head_seq, removed, stamp } = seen;
        let lag: Option<i64> = row.try_get(8)?;
        let lag = lag.map(|micros| Duration::from_micros(unsigned(micros)));
        let change = stamp.behind(position.base, session, head_seq, removed);
        Ok(Found { at, change, lag })
    };
    rows.iter().map(change).collect()
}

/// The columns of [`Seen`].
const CHANGE: &str = "s.id, s.state, s.head, s.created_in, s.appended_in, s.changed_in";

/// What the feed tells of a session.
struct Seen {
    session: SessionId,
    head_seq: i64,
    removed: bool,
    stamp: Stamp,
}

impl Seen {
    fn of(row: &Row) -> Result<Self> {
        let id: String = row.try_get(0)?;
        let session = id.parse().map_err(|_| Fault::damaged(&id, None, "its id is no id"))?;
        let count = |at: usize| -> Result<u64> { Ok(unsigned(row.try_get(at)?)) };
        Ok(Self {
            session,
            head_seq: row.try_get(2)?,
            removed: row.try_get::<_, i16>(1)? != LIVING,
            stamp: Stamp { created: count(3)?, appended: count(4)?, changed: count(5)? },
        })
    }
}
