//! Finds the attachments that events mention. `gc` retains these attachments, and `verify` checks
//! them.

use std::collections::{HashMap, HashSet};

use forklore_core::attachment::{Mention, mentions};
use forklore_core::{AttachmentId, ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::attachments::{Swept, check};
use forklore_store::port::{At, Filter, Problem};

use crate::{Engine, Error, Result};

/// Number of consecutive passes that read no session, after which the scan for mentioned
/// attachments returns an error. A pass reads the sessions that earlier passes did not read. A pass
/// reads no session if the store lists sessions but cannot find them.
const TRIES: u32 = 3;

impl Engine {
    /// Removes the attachments that no event mentions. Does not remove an attachment that is
    /// pinned, or that was added or pinned after this function began, because a writer may be about
    /// to append an event that mentions it.
    pub(crate) fn sweep_attachments(&self) -> Result<Swept> {
        let Some(attachments) = &self.attachments else { return Ok(Swept::default()) };
        let mut unneeded = attachments.store().list()?;
        unneeded.retain(|attachment| !attachment.pinned);
        if !unneeded.is_empty() {
            let mentioned = self.mentioned()?;
            unneeded.retain(|attachment| !mentioned.contains(&attachment.id));
        }
        Ok(attachments.store().sweep(&unneeded)?)
    }

    /// Returns the attachments that the events of all sessions mention. Includes the sessions in
    /// the trash. May miss events that are appended during the scan; the writers of such events pin
    /// the attachments that they mention. If a session is deleted during the scan, the scan still
    /// finds those of its events that other sessions inherit: it reads them in the histories of
    /// these sessions.
    fn mentioned(&self) -> Result<HashSet<AttachmentId>> {
        let (mut found, mut read) = (HashSet::new(), HashSet::new());
        let mut failures = 0;
        loop {
            let all = Filter { deleted: true, ..Filter::default() };
            let mut unread = self.store.sessions(&all, None, 0)?.all()?;
            unread.retain(|header| !header.is_erased() && !read.contains(&header.id));
            if unread.is_empty() {
                return Ok(found);
            }
            let (before, mut gone) = (read.len(), None);
            in_lineage_order(&mut unread);
            for header in &unread {
                let mention = |_, mention: Mention| found.extend([mention.id]);
                match self.each_mention(header, own_only(header, &read), mention) {
                    Ok(()) => read.extend([header.id.clone()]),
                    Err(Error::Store(
                        error @ (StoreError::NotFound(_) | StoreError::Deleted(_)),
                    )) => gone = Some(error),
                    Err(error) => return Err(error),
                }
            }
            // A session that the store lists repeatedly but cannot find is damaged.
            failures = if read.len() == before { failures + 1 } else { 0 };
            if let Some(error) = gone.filter(|_| failures == TRIES) {
                return Err(error.into());
            }
        }
    }

    /// Returns one problem for each mention of a missing or damaged attachment in the messages of
    /// the sessions `headers`. The problem names the session and the seq of the message. Skips
    /// deleted sessions, and events that cannot be read.
    pub(crate) fn attachment_problems(&self, headers: &[Header]) -> Result<Vec<Problem>> {
        let mut headers: Vec<_> =
            headers.iter().filter(|header| header.deleted.is_none()).cloned().collect();
        in_lineage_order(&mut headers);
        let (mut problems, mut existing) = (Vec::new(), HashMap::new());
        let mut read = HashSet::new();
        for header in &headers {
            let found = self.each_mention(header, own_only(header, &read), |seq, mention| {
                let Some(part) = mention.part else { return };
                let wrong =
                    existing.entry(mention.id).or_insert_with(|| self.wrong_with(&mention.id));
                if let Some((kind, message)) = wrong {
                    let named = part.name.map(|name| format!(" ({name})")).unwrap_or_default();
                    problems.push(Problem {
                        session_id: Some(header.id.clone()),
                        seq: Some(seq),
                        attachment: Some(mention.id),
                        kind: *kind,
                        message: format!("{message}{named}"),
                    });
                }
            });
            match found {
                Ok(()) => read.extend([header.id.clone()]),
                // The store has already reported the unreadable events of this session.
                Err(Error::Store(error)) if is_reported(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(problems)
    }

    fn wrong_with(&self, id: &AttachmentId) -> Option<(ErrorKind, String)> {
        let missing = || (ErrorKind::NotFound, format!("the attachment {id} is missing"));
        let Some(attachments) = &self.attachments else { return Some(missing()) };
        match check(&**attachments.store(), id) {
            Ok(Some(_)) => None,
            Ok(None) => Some(missing()),
            Err(error) => Some((error.kind(), error.to_string())),
        }
    }

    /// Calls `give` for each mention of an attachment in the events of a session. `give` gets the
    /// event's seq and the mention. If `own_only` is true, skips the events that the session
    /// inherits.
    fn each_mention(
        &self,
        header: &Header,
        own_only: bool,
        mut give: impl FnMut(u64, Mention),
    ) -> Result<()> {
        let from = if own_only { header.inherited.inheritable + 1 } else { 0 };
        for stored in self.events_in_trash(&header.id, At::Seq(from)) {
            let stored = stored?;
            mentions(&stored.event.data).into_iter().for_each(|it| give(stored.seq, it));
        }
        Ok(())
    }
}

/// Checks whether the attachment scan can skip the inherited events of a session. It can if the
/// session's parent is in `read`, the set of sessions already scanned.
fn own_only(header: &Header, read: &HashSet<SessionId>) -> bool {
    header.inherited.inheritable > 0
        && header.parent_id.as_ref().is_some_and(|parent| read.contains(parent))
}

fn in_lineage_order(headers: &mut [Header]) {
    headers.sort_by(|a, b| a.depth.cmp(&b.depth).then_with(|| a.id.cmp(&b.id)));
}

fn is_reported(error: &StoreError) -> bool {
    use ErrorKind::{Corrupt, MissingAncestor, NotFound};
    matches!(error.kind(), Corrupt | MissingAncestor | NotFound)
}
