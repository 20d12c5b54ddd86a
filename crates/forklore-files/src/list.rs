//! Listing sessions: every file is looked at, at both of its ends.

use forklore_store::port::{Cursor, Filter, Headers};
use forklore_store::{Error, Result};

use crate::claim::Found;
use crate::folder::Folder;
use crate::fs::Open;
use crate::layout::Segment;
use crate::log::of;
use crate::session::{Outline, Session};

impl Folder {
    /// The headers that `filter` asks for, the last updated first.
    pub(crate) fn list(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Headers> {
        let mut found = Headers::default();
        let workspace = filter.workspace.as_ref().map(forklore_model::workspace::Workspace::key);
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
                Err(error @ Error::Corrupt { .. }) => found.damaged.push(error),
                Err(error) => return Err(error),
            }
        }
        let headers = &mut found.sound;
        headers.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        headers.retain(|header| after.is_none_or(|cursor| cursor.is_before(header)));
        headers.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(found)
    }

    /// The session whose own segment this is; none where it is gone.
    pub(crate) fn session_in(&self, segment: &Segment) -> Result<Option<Session>> {
        // First what is known to be durable, then the file: it only grows meanwhile, unless it was
        // replaced, and then it is looked at again.
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

    /// Every session that can be read, deleted ones too.
    pub(crate) fn sessions(&self) -> Result<Vec<Outline>> {
        let own = self.segments()?.into_iter().filter(|segment| !segment.is_prefix());
        let mut sessions = Vec::new();
        for segment in own {
            sessions.extend(self.session_in(&segment)?.map(Session::outline));
        }
        Ok(sessions)
    }
}
