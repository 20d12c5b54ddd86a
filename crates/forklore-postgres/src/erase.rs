//! Erases events that no session needs any more.

use std::collections::{BTreeMap, HashMap};

use forklore_core::SessionId;

use crate::connection::{number, text};
use crate::database::Database;
use crate::fault::Result;
use crate::session::ERASED;

/// What matters of a session for the question which events are needed.
struct Member {
    id: String,
    is_erased: bool,
    base: Option<(String, bool)>,
    owned: bool,
    inherited: i64,
    /// The first and the last inheritable event that is stored.
    rest: Range,
}

type Range = (i64, i64);

const NOTHING: Range = (1, 0);

/// Erases the events of the erased sessions of a family that no session needs. The caller has
/// locked the family against other deletes. Returns of how many of the sessions `ids` some events
/// remain.
pub(crate) fn unneeded(
    database: Database<'_>,
    family: &SessionId,
    ids: &[SessionId],
) -> Result<u64> {
    let family = family.as_str();
    let members = members(database, family)?;
    let needed = needed(&members);
    let mut remaining = 0;
    for member in members.iter().filter(|member| member.is_erased) {
        let rest = needed.get(member.id.as_str()).copied().unwrap_or(NOTHING);
        if rest != member.rest {
            erase_but(database, family, &member.id, rest)?;
        }
        let is_listed = ids.iter().any(|id| id.as_str() == member.id);
        remaining += u64::from(is_listed && rest != NOTHING);
    }
    Ok(remaining)
}

fn members(database: Database<'_>, family: &str) -> Result<Vec<Member>> {
    let sql = "SELECT id, state, base, base_whole, owned, inherited, rest_from, rest_to
         FROM forklore.session WHERE tenant = $1 AND family = $2";
    let rows = database.connection.rows(sql, &[text(&database.tenant), text(&family)])?;
    let member = |row: &tokio_postgres::Row| {
        let (base, whole): (Option<String>, bool) = (row.try_get(2)?, row.try_get(3)?);
        Ok(Member {
            id: row.try_get(0)?,
            is_erased: row.try_get::<_, i16>(1)? == ERASED,
            base: base.map(|base| (base, whole)),
            owned: row.try_get(4)?,
            inherited: row.try_get(5)?,
            rest: (row.try_get(6)?, row.try_get(7)?),
        })
    };
    rows.iter().map(member).collect()
}

/// Returns which events of which sessions the histories of the other sessions contain.
fn needed(members: &[Member]) -> HashMap<&str, Range> {
    let by_id: BTreeMap<_, _> = members.iter().map(|member| (member.id.as_str(), member)).collect();
    let mut needed: HashMap<&str, Range> = HashMap::new();
    for member in members.iter().filter(|member| !member.is_erased && !member.owned) {
        let (mut high, mut next) = (member.inherited, member.base.as_ref());
        while let Some((id, whole)) = next
            && let Some(base) = by_id.get(id.as_str())
        {
            let low = if *whole { 1 } else { base.inherited + 1 };
            let range = needed.entry(&base.id).or_insert(NOTHING);
            let begun = if *range == NOTHING { (low, high) } else { *range };
            *range = (begun.0.min(low), begun.1.max(high));
            // Each ancestor inherits less than its child, so that damage cannot lead in a circle.
            next = base.base.as_ref().filter(|_| !whole && base.inherited < high);
            high = base.inherited;
        }
    }
    needed
}

fn erase_but(database: Database<'_>, family: &str, id: &str, rest: Range) -> Result<()> {
    let values =
        [text(&database.tenant), text(&family), text(&id), number(&rest.0), number(&rest.1)];
    let sql = "DELETE FROM forklore.event WHERE tenant = $1 AND family = $2 AND session = $3
         AND NOT (class < 3 AND kept BETWEEN $4 AND $5)";
    database.connection.execute(sql, &values)?;
    let sql = "UPDATE forklore.session SET rest_from = $4, rest_to = $5
         WHERE tenant = $1 AND family = $2 AND id = $3";
    database.connection.execute(sql, &values)?;
    Ok(())
}
