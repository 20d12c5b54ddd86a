//! Takes the content of stored events away (docs/semantics.md, Redaction). The database erases the
//! former rows with the next vacuum.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use forklore_core::{Event, Origin, SessionId};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{EventRedaction, Redacted, Redactions};
use forklore_store::rules::{is_redacted_by, lease_of_other};

use super::Attempt;
use crate::connection::{number, numbers, text, texts};
use crate::event::{self, Stored};
use crate::fault::Result;
use crate::number::signed;
use crate::{operation, source};

impl Attempt<'_> {
    pub(super) fn redact(&mut self, write: &Redactions) -> Result<Redacted> {
        self.flush()?;
        let mut families: BTreeMap<String, Vec<&EventRedaction>> = BTreeMap::new();
        for one in &write.events {
            let header = self.header(&one.origin.session_id)?;
            if let Some(lease) = lease_of_other(&header, None, self.now) {
                let owner = lease.owner.clone();
                return Err(Error::Leased { session: header.id, owner }.into());
            }
            families.entry(header.root_id.as_str().to_owned()).or_default().push(one);
        }
        let (mut replaced, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for (family, events) in &families {
            self.replace(family, events, &mut replaced, &mut changed)?;
        }
        let events = write.events.iter().map(|one| &one.origin);
        let events = events.filter(|origin| replaced.remove(*origin)).cloned().collect();
        let mut done = Redacted { events, titles: Vec::new() };
        for id in changed {
            let session = self.any(&id)?;
            let is_deleted = session.header.deleted.is_some();
            self.put(session, if is_deleted { What::Changed } else { What::Created });
        }
        for id in &write.titles {
            let mut session = self.any(id)?;
            if session.header.title.take().is_some() {
                let is_deleted = session.header.deleted.is_some();
                self.put(session, if is_deleted { What::Changed } else { What::Created });
                done.titles.push(id.clone());
            }
        }
        self.flush()?;
        operation::forget(self.database, &done.titles)?;
        source::forget_sources(self.database, &write.sources)?;
        Ok(done)
    }

    /// Replaces the payloads of events and of their copies in a family. Adds the origins of the
    /// replaced events, and the sessions with which they are stored.
    fn replace(
        &self,
        family: &String,
        events: &[&EventRedaction],
        replaced: &mut BTreeSet<Origin>,
        changed: &mut BTreeSet<SessionId>,
    ) -> Result<()> {
        let by_origin: HashMap<_, _> = events.iter().map(|one| (&one.origin, *one)).collect();
        let session = |one: &&EventRedaction| one.origin.session_id.as_str().to_owned();
        let sessions: Vec<_> = events.iter().map(session).collect();
        let seqs: Vec<_> = events.iter().map(|one| signed(one.origin.seq)).collect();
        let sql = format!(
            "SELECT {}, e.data FROM forklore.event e WHERE e.tenant = $1 AND e.family = $2 AND (
                 (e.origin_session IS NULL AND (e.session, e.seq) IN
                     (SELECT * FROM unnest($3::text[], $4::int8[])))
                 OR (e.origin_session, e.origin_seq) IN
                     (SELECT * FROM unnest($3::text[], $4::int8[])))
             ORDER BY e.session, e.seq",
            event::COLUMNS
        );
        let tenant = self.database.tenant;
        let values = [text(&tenant), text(family), texts(&sessions), numbers(&seqs)];
        for row in self.database.connection.rows(&sql, &values)? {
            let stored = Stored::of(&row, false)?;
            let Some(one) = by_origin.get(&stored.origin) else { continue };
            if !is_redacted_by(&stored.event, one)? {
                continue;
            }
            let (at, seq): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            let Stored { counts, origin, event } = stored;
            let event = Event { data: one.data.clone(), ..event };
            let sum = event::sum_of(&counts, &origin, &event)?;
            let data = event.data.get();
            let sql = "UPDATE forklore.event SET data = $5, crc = $6
                 WHERE tenant = $1 AND family = $2 AND session = $3 AND seq = $4";
            let values =
                [text(&tenant), text(family), text(&at), number(&seq), text(&data), number(&sum)];
            self.database.connection.execute(sql, &values)?;
            replaced.insert(origin);
            changed.extend(at.parse().ok());
        }
        Ok(())
    }
}
