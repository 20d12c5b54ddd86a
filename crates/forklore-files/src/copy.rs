//! Copies a session's assembled prefix into a file of its own, for `replay_v1` and `detach`.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use forklore_core::header::Strategy;
use forklore_core::{Header, SessionId};
use forklore_store::disk::os;
use forklore_store::port::Changed;
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::fs::{File, Open};
use crate::history::History;
use crate::layout::{LINES, PREFIX, Segment, UNFINISHED};
use crate::line::sealed;
use crate::log::Next;
use crate::record::{PrefixLine, Writer, write_event};

/// Number of bytes of encoded events that a copy collects before it writes them.
const WRITE_BYTES: usize = 1 << 20;

/// A complete and durable copy of the events that a session will inherit, in a temporary file. No
/// session uses it yet.
#[derive(Debug)]
pub(crate) struct Staged {
    path: PathBuf,
}

/// The session for which inherited events are copied.
pub(crate) struct Owner<'a> {
    pub(crate) id: &'a SessionId,
    pub(crate) parent_id: Option<&'a SessionId>,
    pub(crate) root_id: &'a SessionId,
    pub(crate) segment: &'a Segment,
}

/// Copies the first `count` inheritable events of the session `from` into a temporary file. `owner`
/// is the session that will use the copy. Takes no lock, so that other writers need not wait.
pub(crate) fn stage(
    folder: &Folder,
    from: &SessionId,
    count: u64,
    owner: &Owner<'_>,
) -> Result<Staged> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    folder.check_sound()?;
    folder.make_dir(&folder.layout.workspaces().join(owner.segment.workspace()))?;
    // The name of the temporary file has a random suffix. A process id is not unique, because two
    // processes in different containers can have the same.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let suffix = format!(".{:016x}{UNFINISHED}", RandomState::new().hash_one(number));
    let path = folder.layout.segment(&owner.segment.prefix());
    let staged = Staged { path: forklore_store::disk::with_suffix(&path, &suffix) };
    // The file exists before the first event is read. A redaction that rewrites what is read here
    // therefore finds and removes it (`remove_copies`), so that the old content is never published.
    let file =
        folder.fs.open(&staged.path, Open::Create).map_err(os("copying to", &staged.path))?;
    let written = write_copy(folder, from, count, owner, (&*file, &staged.path));
    if written.is_err() {
        staged.abandon(folder);
    }
    written.map(|()| staged)
}

fn write_copy(
    folder: &Folder,
    from: &SessionId,
    count: u64,
    owner: &Owner<'_>,
    (file, path): (&dyn File, &Path),
) -> Result<()> {
    let session = folder.living(from)?;
    if count > session.header.counts.inheritable {
        return Err(Error::Invalid(format!("the cut lies behind the end of {from}")));
    }
    let mut lines = sealed(&PrefixLine::new(owner.id, count))?;
    let (mut at, mut copied) = (0, 0);
    History::of(folder, &session).walk(0, false, |stored| {
        if !stored.event.class.is_inherited() {
            return Ok(Next::Go);
        }
        copied += 1;
        let writer =
            Writer { session_id: owner.id, parent_id: owner.parent_id, root_id: owner.root_id };
        let counts = stored.counts;
        write_event(&mut lines, writer, copied, Some(&stored.origin), counts, &stored.event)
            .map_err(|error| Error::io("copying an event", error))?;
        if lines.len() >= WRITE_BYTES {
            folder.write(file, path, lines.as_bytes(), at)?;
            at += lines.len() as u64;
            lines.clear();
        }
        Ok(if copied == count { Next::Stop } else { Next::Go })
    })?;
    folder.write(file, path, lines.as_bytes(), at)?;
    folder.sync(file, path)
}

/// Removes all copies that are unfinished or that no session uses yet. Their writers then begin
/// anew.
pub(crate) fn remove_copies(folder: &Folder) -> Result<()> {
    let (above, middle) = (folder.layout.workspaces(), format!("{PREFIX}{LINES}."));
    let is_copy = |name: &String| name.ends_with(UNFINISHED) && name.contains(&middle);
    for workspace in folder.names(&above)? {
        let workspace = above.join(workspace);
        for name in folder.names(&workspace)?.iter().filter(|name| is_copy(name)) {
            folder.remove(&workspace.join(name))?;
        }
    }
    Ok(())
}

/// Copies the events that the session inherits into a temporary file, in preparation for a detach
/// (docs/semantics.md, Delete, detach). Returns `None` if the session needs no copy.
pub(crate) fn staged_detach(folder: &Folder, id: &SessionId) -> Result<Option<Staged>> {
    let session = folder.living(id)?;
    let header = &session.header;
    if has_own(header) {
        return Ok(None);
    }
    let owner = Owner {
        id,
        parent_id: header.parent_id.as_ref(),
        root_id: &header.root_id,
        segment: &session.segment,
    };
    stage(folder, id, header.inherited.inheritable, &owner).map(Some)
}

/// Detaches the session: gives it the copy `staged` of its inherited events and marks it as
/// detached. If the session was detached meanwhile, `staged` remains unused.
pub(crate) fn detach(folder: &Folder, id: &SessionId, staged: Option<&Staged>) -> Result<Changed> {
    let copied_events = publish_detach(folder, id, staged)?;
    mark_detached(folder, id, copied_events)
}

/// Gives the session the copy `staged` of its inherited events, without marking it as detached.
/// Nothing uses the copy until then. Returns the number of copied events.
pub(crate) fn publish_detach(
    folder: &Folder,
    id: &SessionId,
    staged: Option<&Staged>,
) -> Result<u64> {
    let session = folder.writable(id)?;
    let Some(staged) = staged.filter(|_| !has_own(&session.header)) else { return Ok(0) };
    staged.publish(folder, &session.segment)?;
    Ok(session.header.inherited.inheritable)
}

/// Marks the session as detached, after [`publish_detach`].
pub(crate) fn mark_detached(
    folder: &Folder,
    id: &SessionId,
    copied_events: u64,
) -> Result<Changed> {
    let mut session = folder.writable(id)?;
    if !session.header.detached {
        session.header.detached = true;
        folder.commit(&mut session, String::new())?;
    }
    Ok(Changed { header: session.header, copied_events })
}

fn has_own(header: &Header) -> bool {
    header.detached
        || header.inherited.inheritable == 0
        || header.strategy == Some(Strategy::ReplayV1)
}

impl Staged {
    /// Renames the complete copy of inherited events to its final name. The copy then belongs to
    /// the session whose own file is `segment`.
    ///
    /// # Errors
    /// `Stale` if a `gc` has removed the copy because it looked abandoned, or a redaction because
    /// it may contain what was redacted.
    pub(crate) fn publish(&self, folder: &Folder, segment: &Segment) -> Result<()> {
        if folder.open(&self.path, Open::Read)?.is_none() {
            let message = "a gc or a redaction removed it".into();
            return Err(Error::Stale { what: "the copy of the prefix".into(), message });
        }
        folder.publish(&self.path, &folder.layout.segment(&segment.prefix()))
    }

    /// Removes the temporary file of an unused copy. Ignores a failure: the next `gc` removes the
    /// file.
    pub(crate) fn abandon(&self, folder: &Folder) {
        let _ = folder.fs.remove(&self.path);
    }
}
