//! Lists sessions. For this, it reads the first line and the last commit of every session file.

use forklore_core::Counts;
use forklore_store::port::{Cursor, Filter, Headers};
use forklore_store::{Error, Result};

use crate::claim::Found;
use crate::folder::Folder;
use crate::fs::Open;
use crate::layout::Segment;
use crate::log::of;
use crate::record::{Ancestry, SessionLine, Span};
use crate::session::{Outline, Session};

impl Folder {
    /// Returns the session headers that match `filter` and come after the cursor `after`. The most
    /// recently updated comes first. Returns at most `limit` headers, or all if `limit` is 0.
    pub(crate) fn list(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Headers> {
        let mut found = Headers::default();
        let workspace = filter.workspace.as_ref().map(forklore_core::workspace::Workspace::key);
        for segment in self.segments()? {
            if segment.is_prefix()
                || workspace.as_ref().is_some_and(|key| segment.workspace() != key)
            {
                continue;
            }
            match self.session_in(&segment) {
                Ok(Some(session)) if filter.matches(&session.header) => {
                    found.sound.push(session.header);
                }
                Ok(_) => {}
                Err(error) if is_its_own(&error) => found.damaged.push(error),
                Err(error) => return Err(error),
            }
        }
        let headers = &mut found.sound;
        headers.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        headers.retain(|header| after.is_none_or(|cursor| cursor.is_before(header)));
        headers.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(found)
    }

    /// Reads the session whose own file of events is `segment`. Returns `None` if the file does not
    /// exist.
    pub(crate) fn session_in(&self, segment: &Segment) -> Result<Option<Session>> {
        // Read the durable length before the file. Between the two reads the file can only grow,
        // unless it is replaced by another one. If it is replaced, the read fails and is tried
        // again.
        let look = || {
            let durable = self.durable(segment)?;
            self.load(&Found { segment: segment.clone(), durable }, Open::Read)
        };
        let session = look().or_else(|_| look());
        session.map_err(|error| match self.claimant(segment.name()) {
            Some(id) => of(error, &id, None),
            None => error,
        })
    }

    /// Reads the headers of all sessions of the store, including deleted ones.
    pub(crate) fn survey(&self) -> Result<Survey> {
        let own = self.segments()?.into_iter().filter(|segment| !segment.is_prefix());
        let mut found = Survey::default();
        for segment in own {
            match self.session_in(&segment) {
                Ok(session) => found.sessions.extend(session.map(Session::outline)),
                Err(error) if is_its_own(&error) => {
                    let line = self.session_line(&segment).ok().flatten();
                    found.damaged.push(Damaged { segment, line, error });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// All sessions of a store, read in one pass over its folders.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) sessions: Vec<Outline>,
    /// The sessions whose files cannot be read.
    pub(crate) damaged: Vec<Damaged>,
}

/// A session whose file cannot be read, with the reason.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) segment: Segment,
    /// The first line of the session's file, if that line can be read.
    pub(crate) line: Option<SessionLine>,
    pub(crate) error: Error,
}

impl Survey {
    /// Returns the ancestries (lists of inherited spans) of all sessions that may use one: those
    /// that are living, in the trash or damaged. Each ancestry comes with the number of inheritable
    /// events that it covers.
    pub(crate) fn lists(&self) -> Vec<(Ancestry, u64)> {
        let unerased = self.sessions.iter().filter(|session| !session.header.is_erased());
        let mut lists: Vec<_> = unerased
            .map(|Outline { segment, header, line }| {
                (line.ancestry_of(header, segment), header.inherited.inheritable)
            })
            .collect();
        // For a damaged session it is unknown whether it uses the spans in its first line or its
        // own copy. So include both.
        for Damaged { segment, line, .. } in &self.damaged {
            if let Some(line) = line {
                let inheritable = line.session.inherited().inheritable;
                let copy = Span { segment: segment.prefix(), base: Counts::default() };
                lists.push((line.ancestry.clone(), inheritable));
                lists.push((Ancestry { before: None, spans: vec![copy] }, inheritable));
            }
        }
        lists
    }
}

/// Checks whether the error concerns only the file that was being read. If so, other files may
/// still be readable.
fn is_its_own(error: &Error) -> bool {
    matches!(error, Error::Corrupt { .. } | Error::Unsupported(_) | Error::Denied(_))
}
