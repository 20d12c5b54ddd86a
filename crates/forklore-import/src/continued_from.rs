//! Files that hold only what is new: their session begins inside the session of another file
//! (SPEC 11).

use forklore_core::agent_format::Base;
use forklore_core::{Cut, Header, Selector};
use forklore_engine::{Error, Result};
use forklore_store::sources::{RecordLocation, Source};

use crate::begin::Follows;
use crate::lookup::Lookup;
use crate::opened::record_key;

/// How many numbers without a record may stand before the end of a beginning.
const GAP: u64 = 1_000;
/// How much of an id is told.
const SHOWN: usize = 60;

/// Whether a source holds the beginning that a file continues.
enum Within {
    /// It ends in this session, here.
    At(Box<Header>, Cut),
    /// The source does not go so far.
    TooShort,
    /// The session that holds it was deleted.
    Deleted,
}

/// That a file's session continues one that is not there.
pub(crate) const MISSING_BASE: &str = "missing_base";

fn missing(message: String) -> Error {
    Error::Invalid { reason: MISSING_BASE, message }
}

impl Lookup<'_> {
    /// The session that the file's session continues, and where; none where it continues none.
    ///
    /// # Errors
    /// [`MISSING_BASE`] when that session is not there: without it the file holds only the end of
    /// a conversation, so nothing of the file is imported.
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

    /// The session of the source that holds the end of the beginning, and where that is.
    fn within(&self, source: &Source, base: &Base) -> Result<Within> {
        if base.bytes.is_some_and(|bytes| bytes > source.read.offset) {
            return Ok(Within::TooShort);
        }
        let last = self.last_before(source, base.end)?;
        // Without a place in bytes nothing says that the file goes so far.
        if last.is_none() && base.bytes.is_none() {
            return Ok(Within::TooShort);
        }
        let number = last.map_or(0, |place| place.session);
        let session = usize::try_from(number).ok().and_then(|at| source.sessions.get(at));
        let Some(session) = session else { return Ok(Within::TooShort) };
        let header = self.engine.store().header(&session.id)?;
        if header.deleted.is_some() {
            return Ok(Within::Deleted);
        }
        let cut = match last {
            Some(place) => self.cut(&header, Follows::of(place))?,
            None => self.cut_before_own(&header)?,
        };
        Ok(Within::At(Box::new(header), cut))
    }

    /// Where the last record stands whose number is below `end`.
    fn last_before(&self, source: &Source, end: u64) -> Result<Option<RecordLocation>> {
        for number in (end.saturating_sub(GAP)..end).rev() {
            let key = record_key(number.to_string().as_bytes());
            if let Some(place) = self.sources.locate_record(source.id, key)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Where the session itself begins.
    fn cut_before_own(&self, header: &Header) -> Result<Cut> {
        match i64::try_from(header.inherited.inheritable) {
            Ok(last @ 1..) => self.engine.cut(header, &Selector::Seq(last)),
            _ => Ok(Cut::default()),
        }
    }
}
