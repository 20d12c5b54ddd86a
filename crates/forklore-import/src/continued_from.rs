//! Files that contain only what was added to another file, the base. The session of such a file
//! begins inside the session of the base (docs/semantics.md, Sources).

use forklore_core::agent_format::Base;
use forklore_core::{Cut, Header, Selector};
use forklore_engine::{Error, Result};
use forklore_store::sources::{RecordLocation, Source};

use crate::branch_start::Follows;
use crate::lookup::Lookup;
use crate::record_keys::record_key;

/// Maximum number of record numbers that a search for an imported record examines. The search goes
/// backwards from the position at which a continued session ends.
const GAP: u64 = 1_000;
/// Maximum number of characters of an agent's session id that an error message shows.
const SHOWN: usize = 60;

/// The result of a search in one imported file: where the base ends. The base is the session that
/// another file continues.
enum Within {
    /// The base (the session that a file continues) ends in this session, at this cut.
    At(Box<Header>, Cut),
    /// The imported file does not contain the position at which the other file continues it.
    TooShort,
    /// The base ends in a session that was deleted.
    Deleted,
}

/// The reason in [`Error::Invalid`] if the session that a file continues cannot be used. That
/// session was not imported, was deleted, is too short, or is the file's own session.
pub(crate) const MISSING_BASE: &str = "missing_base";

fn missing(message: String) -> Error {
    Error::Invalid { reason: MISSING_BASE, message }
}

impl Lookup<'_> {
    /// Returns the session that the file's session continues, and the cut after which the
    /// continuation begins. Returns `None` if `base` is `None`: the file continues no other
    /// session.
    ///
    /// # Errors
    /// [`MISSING_BASE`] if the continued session was not imported, was deleted, is too short, or is
    /// the file's own session. The file is then not imported, because it contains only the end of a
    /// conversation.
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

    /// Finds where the base ends within an imported file, `source`. Returns the session that
    /// contains this position, and the cut there.
    fn within(&self, source: &Source, base: &Base) -> Result<Within> {
        if base.bytes.is_some_and(|bytes| bytes > source.read.offset) {
            return Ok(Within::TooShort);
        }
        let last = match &base.after {
            Some(id) => self.sources.locate_record(source.id, record_key(id.as_bytes()))?,
            None => self.last_before(source, base.end)?,
        };
        // The base's length in bytes is unknown, so nothing proves that the source is long enough.
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

    /// Returns the location of the imported record with the highest number below `end`. Searches at
    /// most [`GAP`] numbers, from `end` backwards. Returns `None` if none of them has a record.
    fn last_before(&self, source: &Source, end: u64) -> Result<Option<RecordLocation>> {
        for number in (end.saturating_sub(GAP)..end).rev() {
            let key = record_key(number.to_string().as_bytes());
            if let Some(location) = self.sources.locate_record(source.id, key)? {
                return Ok(Some(location));
            }
        }
        Ok(None)
    }

    /// Returns the cut of the session between its inherited events and its own events. If it
    /// inherits nothing, the cut is at the start.
    fn cut_before_own(&self, header: &Header) -> Result<Cut> {
        match i64::try_from(header.inherited.inheritable) {
            Ok(last @ 1..) => self.engine.cut(header, &Selector::Seq(last)),
            _ => Ok(Cut::default()),
        }
    }
}
