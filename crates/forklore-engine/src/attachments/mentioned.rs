//! Which attachments any event of the store mentions: what a gc keeps and a verify looks for.

use std::collections::{HashMap, HashSet};

use forklore_core::attachment::{Mention, mentions};
use forklore_core::{AttachmentId, ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::attachments::{Swept, check};
use forklore_store::port::{At, Filter, Problem};

use crate::{Engine, Error, Result};

/// How often sessions that are listed may turn out to be gone, all of them.
const TRIES: u32 = 3;

impl Engine {
    /// Removes the attachments that no event mentions, but for those that are about to be named:
    /// put or held since this began, or held still.
    pub(crate) fn sweep_attachments(&self) -> Result<Swept> {
        let Some(kept) = &self.attachments else { return Ok(Swept::default()) };
        let mut unneeded = kept.store().list()?;
        unneeded.retain(|attachment| !attachment.pinned);
        if !unneeded.is_empty() {
            let mentioned = self.mentioned()?;
            unneeded.retain(|attachment| !mentioned.contains(&attachment.id));
        }
        Ok(kept.store().sweep(&unneeded)?)
    }

    /// Every attachment that an event of a session mentions. What is written meanwhile is held by
    /// its writer; what is deleted meanwhile is looked for in the sessions that inherited it.
    fn mentioned(&self) -> Result<HashSet<AttachmentId>> {
        let (mut found, mut read) = (HashSet::new(), HashSet::new());
        let mut in_vain = 0;
        loop {
            let mut unread = self.store.sessions(&Filter::default(), None, 0)?.all()?;
            unread.retain(|header| !read.contains(&header.id));
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
            // A session that is listed again and again and never there is damage.
            in_vain = if read.len() == before { in_vain + 1 } else { 0 };
            if let Some(error) = gone.filter(|_| in_vain == TRIES) {
                return Err(error.into());
            }
        }
    }

    /// The attachments that messages of these sessions name and that are missing or damaged, with
    /// the place of each.
    pub(crate) fn attachment_problems(&self, headers: &[Header]) -> Result<Vec<Problem>> {
        let mut headers: Vec<_> =
            headers.iter().filter(|header| header.deleted.is_none()).cloned().collect();
        in_lineage_order(&mut headers);
        let (mut problems, mut known) = (Vec::new(), HashMap::new());
        let mut read = HashSet::new();
        for header in &headers {
            let found = self.each_mention(header, own_only(header, &read), |seq, mention| {
                let Some(part) = mention.part else { return };
                let wrong = known.entry(mention.id).or_insert_with(|| self.wrong_with(&mention.id));
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
                // The store has told what of it cannot be read.
                Err(Error::Store(error)) if is_reported(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(problems)
    }

    fn wrong_with(&self, id: &AttachmentId) -> Option<(ErrorKind, String)> {
        let missing = || (ErrorKind::NotFound, format!("the attachment {id} is missing"));
        let Some(kept) = &self.attachments else { return Some(missing()) };
        match check(&**kept.store(), id) {
            Ok(Some(_)) => None,
            Ok(None) => Some(missing()),
            Err(error) => Some((error.kind(), error.to_string())),
        }
    }

    /// Gives every mention of an attachment in the events of a session, inherited ones too unless
    /// only its own are asked for.
    fn each_mention(
        &self,
        header: &Header,
        own_only: bool,
        mut give: impl FnMut(u64, Mention),
    ) -> Result<()> {
        let from = if own_only { header.inherited.inheritable + 1 } else { 0 };
        for stored in self.events(&header.id, At::Seq(from)) {
            let stored = stored?;
            mentions(&stored.event.data).into_iter().for_each(|it| give(stored.seq, it));
        }
        Ok(())
    }
}

/// Whether what a session inherits was read in its parent.
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
