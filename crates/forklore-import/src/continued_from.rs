//! Files that contain only what was added to another file: their session begins inside the session
//! of that file (docs/semantics.md, Sources).

use forklore_core::agent_format::Base;
use forklore_core::{Cut, Header, Selector};
use forklore_engine::{Error, Result};
use forklore_store::sources::{RecordLocation, Source};

use crate::branch_start::Follows;
use crate::lookup::Lookup;
use crate::record_keys::record_key;

/// Maximum number of consecutive record numbers without a record before the end of the base.
const GAP: u64 = 1_000;
/// Maximum number of characters of an id in a message.
const SHOWN: usize = 60;

/// The result of looking in a source for the records that a file continues.
enum Within {
    /// The base ends in this session, at this cut.
    At(Box<Header>, Cut),
    /// The source ends before the base does.
    TooShort,
    /// The session that contained the base was deleted.
    Deleted,
}

/// The error reason if the session that a file continues does not exist.
pub(crate) const MISSING_BASE: &str = "missing_base";

fn missing(message: String) -> Error {
    Error::Invalid { reason: MISSING_BASE, message }
}

impl Lookup<'_> {
    /// Returns the session that the file's session continues, and the cut; `None` if it continues
    /// none.
    ///
    /// # Errors
    /// [`MISSING_BASE`] if that session does not exist. Without it the file contains only the end
    /// of a conversation, so nothing of the file is imported.
    pub(crate) fn continued_from(
        &self,
        base: Option<&Base>,
        own_id: &str,
    ) -> Result<Option<(Header, Cut)>> {
        let Some(base) = base else { return Ok(None) };
        let shown: String = base.native_id.chars().take(SHOWN).collect();
        if base.native_id == own_id {
            return Err(missing("the session begins inside itself".to_owned()));
        }
        let (mut found, mut deleted) = (false, false);
        for source in self.sources_of(&base.native_id)? {
            match self.within(&source, base)? {
                Within::At(header, cut) => return Ok(Some((*header, cut))),
                Within::Deleted => deleted = true,
                Within::TooShort => found = true,
            }
        }
        Err(missing(match (deleted, found) {
            (true, _) => format!("the session begins in {shown}, which was deleted"),
            (_, true) => format!("the session begins behind the end of {shown}"),
            _ => format!("the session begins in {shown}, which is neither imported nor found"),
        }))
    }

    /// Finds the session of the source that contains the end of the base, and the cut there.
    fn within(&self, source: &Source, base: &Base) -> Result<Within> {
        if base.bytes.is_some_and(|bytes| bytes > source.read.offset) {
            return Ok(Within::TooShort);
        }
        let last = self.last_before(source, base.end)?;
        // Without the base's length in bytes nothing shows that the source is long enough.
        if last.is_none() && base.bytes.is_none() {
            return Ok(Within::TooShort);
        }
        let number = last.map_or(0, |location| location.session);
        let session = usize::try_from(number).ok().and_then(|at| source.sessions.get(at));
        let Some(session) = session else { return Ok(Within::TooShort) };
        let header = self.engine.store().header(&session.id)?;
        if header.deleted.is_some() {
            return Ok(Within::Deleted);
        }
        let cut = match last {
            Some(location) => self.cut(&header, Follows::of(location))?,
            None => self.cut_before_own(&header)?,
        };
        Ok(Within::At(Box::new(header), cut))
    }

    /// Returns the location of the last record with a number below `end`.
    fn last_before(&self, source: &Source, end: u64) -> Result<Option<RecordLocation>> {
        for number in (end.saturating_sub(GAP)..end).rev() {
            let key = record_key(number.to_string().as_bytes());
            if let Some(location) = self.sources.locate_record(source.id, key)? {
                return Ok(Some(location));
            }
        }
        Ok(None)
    }

    /// Returns the cut at which the session itself begins.
    fn cut_before_own(&self, header: &Header) -> Result<Cut> {
        match i64::try_from(header.inherited.inheritable) {
            Ok(last @ 1..) => self.engine.cut(header, &Selector::Seq(last)),
            _ => Ok(Cut::default()),
        }
    }
}
