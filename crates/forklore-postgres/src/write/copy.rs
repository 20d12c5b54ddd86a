//! Copies inherited events, inside the database.

use crate::connection::{numbers, text, texts};
use crate::database::Database;
use crate::fault::Result;
use crate::history::History;
use crate::number::signed;

/// Gives the session `to` its own copy of the first `inheritable` inheritable events of a history.
/// Their seqs are their numbers among the inheritable events.
pub(super) fn copy(
    database: Database<'_>,
    history: &History,
    inheritable: u64,
    to: &str,
) -> Result<u64> {
    let parts = history.inherited(signed(inheritable));
    let sessions: Vec<_> = parts.iter().map(|part| part.session.as_str()).collect();
    let (low, high): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.from, part.to)).unzip();
    let sql = "INSERT INTO forklore.event (tenant, family, session, seq, kept, index, turns, bytes,
             open, class, starts_turn, ts, id, type, dialect, calls, origin_session, origin_seq, crc,
             data)
         SELECT e.tenant, e.family, $3, e.kept, e.kept, e.index, e.turns, e.bytes, e.open, e.class,
             e.starts_turn, e.ts, e.id, e.type, e.dialect, e.calls,
             coalesce(e.origin_session, e.session), coalesce(e.origin_seq, e.seq), e.crc, e.data
         FROM unnest($4::text[], $5::int8[], $6::int8[]) AS p (session, low, high)
         JOIN forklore.event e ON e.tenant = $1 AND e.family = $2 AND e.session = p.session
             AND e.class < 3 AND e.kept BETWEEN p.low AND p.high";
    let family = history.session.family();
    let values = [
        text(&database.tenant),
        text(&family),
        text(&to),
        texts(&sessions),
        numbers(&low),
        numbers(&high),
    ];
    let copied = database.connection.execute(sql, &values)?;
    if copied == inheritable { Ok(copied) } else { Err(history.hole(1)) }
}
