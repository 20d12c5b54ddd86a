//! Takes the content of stored events away (docs/semantics.md, Redaction): writes the files that
//! contain them anew, as one change to several files.

use std::collections::{BTreeSet, HashMap, HashSet};

use forklore_core::redaction::{REDACTED_PREFIX, may_be_redacted};
use forklore_core::{Event, Origin, SessionId, Strategy};
use forklore_store::feed::What;
use forklore_store::port::{EventRedaction, Redacted, Redactions};
use forklore_store::rules::{is_redacted_by, lease_of_other};
use forklore_store::{Error, Result};

use crate::folder::{Folder, Mark};
use crate::layout::Segment;
use crate::line::{self, sealed};
use crate::list::Survey;
use crate::log::Log;
use crate::maintenance::{remove_aside, remove_unfinished};
use crate::operation;
use crate::record::{Commit, EventLine, PrefixLine, State, Writer, write_event};
use crate::session::Session;
use crate::sources::{self, Index};

/// The redactions of one write, by origin.
type Origins<'w> = HashMap<&'w Origin, &'w EventRedaction>;

/// Replaces payloads, and removes titles and the stored bytes of sources. `index` is the index of
/// imported files; it may be `None` if the write names no sources.
pub(crate) fn redact(
    folder: &Folder,
    index: Option<&Index>,
    write: &Redactions,
) -> Result<Redacted> {
    let mut sessions = BTreeSet::new();
    let mut roots = HashSet::new();
    for one in &write.events {
        let id = &one.origin.session_id;
        let header = folder.any(id)?.header;
        if let Some(lease) = lease_of_other(&header, None, folder.clock.now()) {
            return Err(Error::Leased { session: id.clone(), owner: lease.owner.clone() });
        }
        sessions.insert(id.clone());
        roots.insert(header.root_id);
    }
    // What killed writers left may contain the payloads. So may a copy that another process makes
    // at this moment: it reads without a lock, and until the files are written anew it reads the
    // payloads. So such copies are removed once more after that.
    remove_unfinished(folder)?;
    folder.outdate_copies();
    let origins: Origins<'_> = write.events.iter().map(|one| (&one.origin, one)).collect();
    let survey = if roots.is_empty() { Survey::default() } else { folder.survey()? };
    let mut replaced = BTreeSet::new();
    let mut reported = BTreeSet::new();
    for outline in survey.sessions.iter().filter(|it| roots.contains(&it.header.root_id)) {
        let copy = outline.segment.prefix();
        let Some(found) = rewrite_copy(folder, &copy, &origins)? else { continue };
        reported.insert(outline.header.id.clone());
        replaced.extend(found);
    }
    let titled: HashSet<_> = write.titles.iter().collect();
    sessions.extend(write.titles.iter().cloned());
    let mut untitled = HashSet::new();
    for id in &sessions {
        let (found, lost_title) = rewrite(folder, id, &origins, titled.contains(id))?;
        if lost_title {
            untitled.insert(id.clone());
        }
        if !found.is_empty() || lost_title {
            reported.insert(id.clone());
        }
        replaced.extend(found);
    }
    operation::forget_names_of(folder, &untitled.iter().collect())?;
    if let Some(index) = index {
        sources::forget(folder, index, &write.sources)?;
    }
    for id in reported {
        let _ = folder.announce(What::Created, &id)?;
    }
    let events = write.events.iter().map(|one| &one.origin);
    Ok(Redacted {
        events: events.filter(|origin| replaced.remove(*origin)).cloned().collect(),
        titles: write.titles.iter().filter(|id| untitled.remove(*id)).cloned().collect(),
    })
}

/// Writes the file of a session anew, if it contains one of the events or a title to remove. Returns
/// the origins of the replaced events, and whether the session lost a title.
fn rewrite(
    folder: &Folder,
    id: &SessionId,
    origins: &Origins<'_>,
    is_untitled: bool,
) -> Result<(Vec<Origin>, bool)> {
    // Torn bytes behind the last step may contain an event too. They are cut off and removed.
    let mut session = match folder.writable_in_trash(id) {
        Err(Error::Deleted(_)) => folder.any(id)?,
        found => found?,
    };
    let lost_title = is_untitled && session.header.title.take().is_some();
    let Session { segment, header, line, log, .. } = &session;
    let mut whole = sealed(line)?;
    let from = whole.len();
    let replaced = copy_lines(log, header.into(), origins, &mut whole)?;
    if replaced.is_empty() && !lost_title {
        return Ok((replaced, false));
    }
    let lines = whole.get(from..).unwrap_or_default().as_bytes();
    let step = line::sum(lines);
    whole.push_str(&sealed(&Commit { state: State::of(header), from: from as u64, step })?);
    // Whoever opens the session checks its last step. An empty one is checked at once.
    let (from, step) = (whole.len() as u64, line::sum(b""));
    whole.push_str(&sealed(&Commit { state: State::of(header), from, step })?);
    folder.unmark(id, segment)?;
    folder.put(&folder.layout.segment(segment), whole.as_bytes())?;
    folder.mark(Mark::Session(id.clone(), segment.clone(), whole.len() as u64));
    remove_aside(folder, segment.name())?;
    Ok((replaced, lost_title))
}

/// Writes a copy of inherited events anew, if it contains one of the events. Returns the origins of
/// the replaced events; `None` if nothing was replaced.
fn rewrite_copy(
    folder: &Folder,
    segment: &Segment,
    origins: &Origins<'_>,
) -> Result<Option<Vec<Origin>>> {
    let Some(first) = folder.copied(segment)? else { return Ok(None) };
    let Some(log) = folder.log(segment)? else { return Ok(None) };
    let gone = || folder.gone(&segment.owner());
    let owner = folder.session_line(&segment.owner())?.ok_or_else(gone)?;
    let mut whole = sealed::<PrefixLine>(&first)?;
    let replaced = copy_lines(&log, owner.session.writer(), origins, &mut whole)?;
    if replaced.is_empty() {
        return Ok(None);
    }
    folder.put(&folder.layout.segment(segment), whole.as_bytes())?;
    Ok(Some(replaced))
}

/// Appends the event lines of a file to `out`, with replaced payloads. Returns the origins of the
/// replaced events.
fn copy_lines(
    log: &Log,
    writer: Writer<'_>,
    origins: &Origins<'_>,
    out: &mut String,
) -> Result<Vec<Origin>> {
    let mut replaced = Vec::new();
    log.lines(|at, bytes, text| {
        if !EventLine::is_one(bytes) {
            return Ok(());
        }
        let stored = EventLine::parse(text, false).map_err(|error| log.damage(at, &error))?;
        if let Some(one) = origins.get(&stored.origin)
            && is_redacted_by(&stored.event, one)?
        {
            let EventLine { seq, origin, counts, event } = stored;
            let is_own = origin.session_id == *writer.session_id && origin.seq == seq;
            let event = Event { data: one.data.clone(), ..event };
            write_event(out, writer, seq, (!is_own).then_some(&origin), counts, &event)
                .map_err(|error| Error::io("redacting an event", error))?;
            replaced.push(origin);
        } else {
            out.push_str(text);
            out.push('\n');
        }
        Ok(())
    })?;
    Ok(replaced)
}

/// Returns the seqs of the redacted events in the files of a session.
pub(crate) fn redacted(folder: &Folder, id: &SessionId) -> Result<Vec<u64>> {
    let session = folder.living(id)?;
    let header = &session.header;
    let mut found = BTreeSet::new();
    if (header.detached || header.strategy == Some(Strategy::ReplayV1))
        && let Some(copy) = folder.log(&session.segment.prefix())?
    {
        find(&copy, &mut found)?;
    }
    find(&session.log, &mut found)?;
    Ok(found.into_iter().collect())
}

fn find(log: &Log, found: &mut BTreeSet<u64>) -> Result<()> {
    let payload = format!(",\"data\":{REDACTED_PREFIX}");
    log.lines(|at, bytes, text| {
        if EventLine::is_one(bytes) && memchr::memmem::find(bytes, payload.as_bytes()).is_some() {
            let stored = EventLine::parse(text, false).map_err(|error| log.damage(at, &error))?;
            if may_be_redacted(&stored.event.data) {
                found.insert(stored.seq);
            }
        }
        Ok(())
    })
}
