//! `gc`: erases events and bytes that no session needs, so that no file contains deleted events.

use forklore_core::Header;
use forklore_store::disk::os;
use forklore_store::port::Collected;
use forklore_store::{Error, Result};

use crate::folder::{Folder, Mark};
use crate::fs::Open;
use crate::layout::{Segment, UNFINISHED};
use crate::line;
use crate::line::sealed;
use crate::log::{Log, Next};
use crate::needed_events::Needs;
use crate::operation;
use crate::record::{Commit, PrefixLine, SessionLine, State, Writer, write_event};
use crate::session::Session;
use crate::sources::{self, Index};

/// Erases all events, copies of events and files that no session needs. Returns how much it erased.
///
/// # Errors
/// `Corrupt` for a session whose file is so damaged that it is unknown which events it needs; no
/// event is erased then. Also `Corrupt` if the file of a deleted session, or a copy of inherited
/// events, cannot be trimmed; all others are trimmed nevertheless.
pub(crate) fn collect(folder: &Folder, index: &Index) -> Result<Collected> {
    let before = bytes_of_files(folder)?;
    let mut collected = Collected::default();
    sources::erase_forgotten(folder, index)?;
    operation::collect(folder)?;
    remove_unfinished(folder)?;
    let mut found = folder.survey()?;
    if let Some(at) = found.damaged.iter().position(|damaged| damaged.line.is_none()) {
        return Err(found.damaged.swap_remove(at).error);
    }
    let needs = Needs::read(folder, &found)?;
    let mut damaged = None;
    for session in found.sessions.iter().filter(|session| session.header.is_erased()) {
        let need = needs.of(&session.segment);
        if session.line.trimmed.is_none_or(|trimmed| need < trimmed) {
            collected.segments += u64::from(need == 0);
            let erased = folder
                .session_in(&session.segment)
                .and_then(|session| session.map_or(Ok(0), |session| trim(folder, &session, need)));
            match erased {
                Ok(erased) => collected.events += erased,
                Err(error @ Error::Corrupt { .. }) => damaged = Some(error),
                Err(error) => return Err(error),
            }
        }
        remove_aside(folder, session.segment.name())?;
    }
    for segment in folder.segments()?.iter().filter(|segment| segment.is_prefix()) {
        collected.segments += u64::from(needs.of(segment) == 0);
        match trim_copy(folder, segment, needs.of(segment)) {
            Ok(erased) => collected.events += erased,
            Err(error @ Error::Corrupt { .. }) => damaged = Some(error),
            Err(error) => return Err(error),
        }
    }
    collected.freed_bytes = before.saturating_sub(bytes_of_files(folder)?);
    damaged.map_or(Ok(collected), Err)
}

/// Trims the file of a deleted session. What remains are the tombstone, and the inheritable events
/// up to number `need`, because other sessions need these events. Returns how many events it
/// erased.
fn trim(folder: &Folder, session: &Session, need: u64) -> Result<u64> {
    let Session { segment, header, line, log, .. } = session;
    let line: SessionLine = line.clone().trimmed_to(need);
    let mut whole = sealed(&line)?;
    let from = whole.len() as u64;
    let erased = match need {
        // No event is needed. The events are not read, so that damage among them cannot prevent the
        // erasure.
        0 => header.own_events,
        _ => retain_needed(log, header.into(), need, false, &mut whole)?,
    };
    let lines = whole.get(usize::try_from(from).unwrap_or_default()..).unwrap_or_default();
    let step = line::sum(lines.as_bytes());
    whole.push_str(&sealed(&Commit { state: State::of(header), from, step })?);
    replace(folder, header, segment, &whole)?;
    Ok(erased)
}

/// Replaces a session's file by one with the shorter content `whole`. Until the new file is
/// durable, the recorded durable length of the file is 0.
fn replace(folder: &Folder, header: &Header, segment: &Segment, whole: &str) -> Result<()> {
    folder.unmark(&header.id, segment)?;
    folder.put(&folder.layout.segment(segment), whole.as_bytes())?;
    folder.mark(Mark::Session(header.id.clone(), segment.clone(), whole.len() as u64));
    Ok(())
}

/// Trims a copy of inherited events: only the first `need` inheritable events remain. If `need` is
/// 0, removes the file. Returns how many events it erased.
fn trim_copy(folder: &Folder, segment: &Segment, need: u64) -> Result<u64> {
    let path = folder.layout.segment(segment);
    if need == 0 {
        let inheritable = folder.copied(segment).ok().flatten().map_or(0, |line| line.inheritable);
        folder.remove(&path)?;
        folder.sync_name(&path)?;
        return Ok(inheritable);
    }
    let Some(log) = folder.log(segment)? else {
        return Ok(0);
    };
    let Some(first) = folder.copied(segment)? else { return Ok(0) };
    if need >= first.inheritable {
        return Ok(0);
    }
    let gone = || folder.gone(&segment.owner());
    let owner = folder.session_line(&segment.owner())?.ok_or_else(gone)?;
    let header = owner.session.writer();
    let mut whole = sealed(&PrefixLine::new(&first.prefix_of, need))?;
    let erased = retain_needed(&log, header, need, true, &mut whole)?;
    folder.put(&path, whole.as_bytes())?;
    Ok(erased)
}

/// Removes the saved incomplete ends of a deleted or redacted session's file. They were cut off from the file
/// when it was repaired. `name` is the name of the session's files.
pub(crate) fn remove_aside(folder: &Folder, name: &str) -> Result<()> {
    let aside = folder.layout.aside();
    for file in folder.names(&aside)? {
        if file.split('.').next() == Some(name) {
            folder.remove(&aside.join(file))?;
        }
    }
    Ok(())
}

/// Removes files with a temporary name. Their writer was killed before it completed them.
pub(crate) fn remove_unfinished(folder: &Folder) -> Result<()> {
    let layout = &folder.layout;
    let mut parents = vec![layout.root().to_owned(), layout.ids(), layout.aside()];
    for above in [folder.layout.workspaces(), folder.layout.labels()] {
        parents.extend(folder.names(&above)?.into_iter().map(|name| above.join(name)));
    }
    for parent in parents {
        for name in folder.names(&parent)?.iter().filter(|name| name.ends_with(UNFINISHED)) {
            folder.remove(&parent.join(name))?;
        }
    }
    Ok(())
}

/// Returns the total size of the store's files in bytes, without attachments and without
/// the cache folder.
pub(crate) fn bytes_of_files(folder: &Folder) -> Result<u64> {
    let layout = &folder.layout;
    let mut parents = vec![layout.ids(), layout.aside(), layout.root().to_owned()];
    for above in [layout.workspaces(), layout.labels()] {
        parents.extend(folder.names(&above)?.into_iter().map(|name| above.join(name)));
    }
    let mut bytes = 0;
    for parent in parents {
        for name in folder.names(&parent)? {
            let path = parent.join(name);
            // Skip folders, and files that were removed meanwhile.
            if let Ok(file) = folder.fs.open(&path, Open::Read) {
                bytes += file.len().map_err(os("measuring", &path))?;
            }
        }
    }
    Ok(bytes)
}

/// Appends to `out` the lines of the file's inheritable events up to number `need`. Returns how
/// many other events the file contains.
fn retain_needed(
    log: &Log,
    writer: Writer<'_>,
    need: u64,
    copied: bool,
    out: &mut String,
) -> Result<u64> {
    let mut erased = 0;
    log.forward(log.start, false, |_, line| {
        let event = &line.event;
        if !event.class.is_inherited() || line.counts.inheritable > need {
            erased += 1;
            return Ok(Next::Go);
        }
        let origin = copied.then_some(&line.origin);
        write_event(out, writer, line.seq, origin, line.counts, event)
            .map_err(|error| forklore_store::Error::io("keeping an event", error))?;
        Ok(Next::Go)
    })?;
    Ok(erased)
}
