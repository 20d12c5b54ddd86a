//! Creates a session: a root, or a child that refers to its parent's events.

use forklore_core::{Header, OpenCalls, SessionKind, Strategy};
use forklore_store::feed::What;
use forklore_store::port::{Beginning, NewSession};
use forklore_store::rules::{check_cut, check_kind};
use forklore_store::{Error, Result};

use crate::append::Tail;
use crate::copy::Staged;
use crate::folder::{Folder, Mark};
use crate::history::History;
use crate::label;
use crate::layout::Segment;
use crate::line;
use crate::line::sealed;
use crate::record::{Ancestry, Commit, SessionLine, Span, State};
use crate::session::Session;

/// Maximum number of spans in the first line of a session's file. A span is a range of inherited
/// events. If a session has more spans, that line refers to an ancestor's file, whose first line
/// has the earlier spans.
const SPANS: usize = 16;

/// Checks the id, the kind and the cut of a new session. Returns the new session's parent, or
/// `None` for a root.
pub(crate) fn check_new(folder: &Folder, new: &NewSession) -> Result<Option<Session>> {
    match folder.find(&new.id) {
        Ok(None) => {}
        // An id stays in use even if the file of its session is lost.
        Ok(Some(_)) | Err(Error::Corrupt { .. } | Error::Lost { .. }) => {
            return Err(Error::IdInUse(new.id.clone()));
        }
        Err(error) => return Err(error),
    }
    let Some(from) = check_kind(new)? else { return Ok(None) };
    let parent = folder.writable(&from.parent)?;
    check_cut(from, &parent.header)?;
    Ok(Some(parent))
}

/// Creates a session. `staged` is the copy of its inherited events, if the session gets a copy. The
/// session's file gets its final name in the last step.
pub(crate) fn create(folder: &Folder, new: &NewSession, staged: Option<&Staged>) -> Result<Header> {
    let parent = check_new(folder, new)?;
    let mut header = new.header(
        parent.as_ref().map(|parent| &parent.header),
        <_>::default(),
        folder.clock.now(),
    );
    label::check(folder, &header.root_id, &new.label, &new.id)?;
    let mut open = OpenCalls::default();
    let mut ancestry = Ancestry::default();
    if let (Some(parent), Some(from)) = (&parent, &new.from)
        && new.kind == SessionKind::Branch
        && from.cut.inheritable > 0
    {
        (header, open, ancestry) = inherit(folder, header, parent, from)?;
    }
    let segment = Segment::of_session(&header.workspace, &header.id);
    let line = SessionLine::new(&header, ancestry);
    let mut tail = Tail { header: &mut header, open: Some(open), lines: String::new() };
    let mut events = new.events.as_slice();
    if let (Some(_), [fork, rest @ ..]) = (&parent, events) {
        tail.push_fork(fork)?;
        events = rest;
    }
    events.iter().try_for_each(|event| tail.push(event))?;
    let lines = tail.lines;
    publish_session(folder, &header, &segment, &line, &lines, staged)?;
    Ok(header)
}

/// Reserves the id and the label of a new session, and then creates its file under the final name.
/// If there is a copy of the session's inherited events, publishes the copy before the file.
fn publish_session(
    folder: &Folder,
    header: &Header,
    segment: &Segment,
    line: &SessionLine,
    lines: &str,
    staged: Option<&Staged>,
) -> Result<()> {
    let mut whole = sealed(line)?;
    let (from, step) = (whole.len() as u64, line::sum(lines.as_bytes()));
    whole.push_str(lines);
    whole.push_str(&sealed(&Commit { state: State::of(header), from, step })?);
    let _write = folder.announce(What::Created, &header.id)?;
    folder.make_dir(&folder.layout.workspaces().join(segment.workspace()))?;
    folder.claim(&header.id, segment)?;
    label::claim(folder, &header.root_id, &header.label, &header.id)?;
    if let Some(staged) = staged {
        staged.publish(folder, segment)?;
    }
    folder.put(&folder.layout.segment(segment), whole.as_bytes())?;
    folder.mark(Mark::Session(header.id.clone(), segment.clone(), whole.len() as u64));
    Ok(())
}

/// Determines what a new child inherits from its parent. Returns the child's header with the
/// inherited counts, the open tool calls, and the spans (ranges of events) of its ancestors.
fn inherit(
    folder: &Folder,
    header: Header,
    parent: &Session,
    from: &Beginning,
) -> Result<(Header, OpenCalls, Ancestry)> {
    let inheritable = from.cut.inheritable;
    let history = History::of(folder, parent);
    let counts = history.counts_at(inheritable)?;
    let open = match (
        counts.open,
        history.seq_of(forklore_core::lineage::Unit::Inheritable, inheritable)?,
    ) {
        (1.., Some(seq)) => history.open_calls(i64::try_from(seq).unwrap_or(i64::MAX))?,
        _ => OpenCalls::default(),
    };
    let ancestry = match from.strategy {
        Strategy::ReplayV1 => Ancestry::default(),
        Strategy::ShareV1 if inheritable > parent.header.inherited.inheritable => with_own(parent),
        Strategy::ShareV1 => history.spans_before(inheritable)?,
    };
    history.check_spans(&ancestry)?;
    Ok((Header { inherited: counts, counts, ..header }, open, ancestry))
}

/// Returns the ancestry (list of inherited spans) of a child that inherits events which its parent
/// wrote itself. A span is a range of events. The list has the parent's spans and one more. If the
/// parent's list is full, the result has only the new span. For the earlier spans, it then refers
/// to the first line of the parent's file.
fn with_own(parent: &Session) -> Ancestry {
    let mut ancestry = parent.ancestry();
    if ancestry.spans.len() >= SPANS {
        ancestry = Ancestry { before: Some(parent.segment.clone()), spans: Vec::new() };
    }
    ancestry.spans.push(Span { segment: parent.segment.clone(), base: parent.header.inherited });
    ancestry
}
