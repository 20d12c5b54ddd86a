//! Finds the sessions of a thread, and reads their events.

use std::sync::Arc;

use forklore_api::Create;
use forklore_core::{Header, SessionId};
use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Filter};

use crate::saver::{News, Saver, Slot, invalid};
use crate::thread::{Stored, Thread, ThreadName};

/// The longest title of a session, in bytes.
const TITLE_BYTES: usize = 500;

impl Saver {
    /// Returns a thread with everything that any writer wrote before the call. `None` if it has no
    /// session.
    pub(crate) fn open(&self, name: &ThreadName) -> Result<Option<Arc<Slot>>> {
        self.refresh()?;
        if let Some(slot) = self.caught_up(name)? {
            return Ok(Some(slot));
        }
        let Some(first) = self.first_session(name)? else { return Ok(None) };
        let filter = Filter { family: Some(first.root_id.clone()), ..Filter::default() };
        let mut family = self.engine.store().sessions(&filter, None, 0)?.all()?;
        family.retain(|it| ThreadName::of(it).as_ref() == Some(name));
        self.read_sessions(name, family).map(Some)
    }

    /// Does what [`open`](Self::open) does for one of many threads, after a [`refresh`](Self::refresh).
    /// `sessions` are all that have the name of the thread.
    pub(crate) fn open_listed(
        &self,
        name: &ThreadName,
        sessions: Vec<Header>,
    ) -> Result<Option<Arc<Slot>>> {
        if let Some(slot) = self.caught_up(name)? {
            return Ok(Some(slot));
        }
        let first = first_id_of(name, 0)?;
        let root = sessions.iter().find(|it| it.id == first).map(|it| it.root_id.clone());
        // A thread that was deleted and began anew may have sessions in other families too.
        if root.is_none_or(|root| sessions.iter().any(|it| it.root_id != root)) {
            return self.open(name);
        }
        self.read_sessions(name, sessions).map(Some)
    }

    /// Returns a thread from memory, after it has read what was written since. `None` if it is not
    /// there.
    fn caught_up(&self, name: &ThreadName) -> Result<Option<Arc<Slot>>> {
        let Some(slot) = self.in_memory(name) else { return Ok(None) };
        match self.catch_up(&slot) {
            Ok(()) => Ok(Some(slot)),
            // Somebody deleted a session meanwhile.
            Err(error) if is_gone(&error) => {
                self.forget(name);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn read_sessions(&self, name: &ThreadName, mut sessions: Vec<Header>) -> Result<Arc<Slot>> {
        let mut thread = Thread::new(name.clone(), self.next_generation());
        sessions.sort_by(|a, b| (a.depth, a.created, &a.id).cmp(&(b.depth, b.created, &b.id)));
        for header in &sessions {
            self.read_line(&mut thread, header)?;
        }
        let slot = self.insert(thread);
        slot.weigh(&slot.thread());
        Ok(slot)
    }

    fn catch_up(&self, slot: &Slot) -> Result<()> {
        let mut thread = slot.thread();
        for news in slot.news() {
            match news {
                News::Session(header) if thread.line_of(&header.id).is_none() => {
                    self.read_line(&mut thread, &header)?;
                }
                News::Session(_) => {}
                News::Head(session, head) => {
                    let line = thread.line_of(&session);
                    let behind =
                        |at: &usize| thread.lines.get(*at).is_some_and(|it| it.head < head);
                    if let Some(line) = line.filter(behind) {
                        self.read_on(&mut thread, line)?;
                    }
                }
            }
        }
        slot.weigh(&thread);
        Ok(())
    }

    pub(crate) fn read_line(&self, thread: &mut Thread, header: &Header) -> Result<usize> {
        let line = thread.add_line(header);
        if thread.lines.get(line).is_some_and(|it| it.head < header.head_seq()) {
            self.read_on(thread, line)?;
        }
        Ok(line)
    }

    /// Reads the events of a line that are not in memory yet.
    pub(crate) fn read_on(&self, thread: &mut Thread, line: usize) -> Result<()> {
        let Some(from) = thread.lines.get(line) else { return Ok(()) };
        let (session, own_from) = (from.session.clone(), from.own_from);
        let next = u64::try_from(from.head + 1).unwrap_or(0);
        for entry in self.engine.events(&session, At::Seq(next)) {
            let entry = entry?;
            thread.apply(&Stored {
                line,
                seq: entry.seq,
                inherited: entry.seq < own_from,
                id: entry.event.id.as_str(),
                ts: entry.event.ts,
                kind: entry.event.kind.as_str(),
                class: entry.event.class,
                data: &entry.event.data,
            });
        }
        Ok(())
    }

    /// Returns the first session of a thread, from whose id it is found. The id of a deleted session
    /// is never used again, so a thread of the same name gets the next one.
    pub(crate) fn first_session(&self, name: &ThreadName) -> Result<Option<Header>> {
        Ok(self.first_id(name)?.1)
    }

    /// Returns the id of the first session of a thread, and the session if it exists.
    pub(crate) fn first_id(&self, name: &ThreadName) -> Result<(SessionId, Option<Header>)> {
        for attempt in 0_u64.. {
            let id = first_id_of(name, attempt)?;
            match self.engine.store().header(&id) {
                Err(StoreError::NotFound(_)) => return Ok((id, None)),
                Err(StoreError::Deleted(_)) => {}
                Err(error) => return Err(error.into()),
                Ok(header) => {
                    if header.deleted.is_none() && ThreadName::of(&header).as_ref() == Some(name) {
                        return Ok((id, Some(header)));
                    }
                }
            }
        }
        Err(invalid("thread", "there is no free id for the thread"))
    }

    /// Returns the first session of a thread, and creates it if it does not exist. That of a
    /// namespace of a subgraph is a delegate of that of the graph.
    pub(crate) fn ensure_first(&self, name: &ThreadName) -> Result<Header> {
        loop {
            let (id, found) = self.first_id(name)?;
            if let Some(header) = found {
                return Ok(header);
            }
            match self.create_first(name, id) {
                // Another writer created it after the check.
                Err(Error::Store(StoreError::IdInUse(_))) => {}
                created => return created,
            }
        }
    }

    /// Creates the first session of a thread.
    ///
    /// # Errors
    /// `already_exists` if the id is in use, and the errors of [`ensure_first`](Self::ensure_first).
    pub(crate) fn create_first(&self, name: &ThreadName, id: SessionId) -> Result<Header> {
        let parent = match name.namespace.as_str() {
            "" => None,
            _ => {
                let main = ThreadName { namespace: String::new(), ..name.clone() };
                Some(self.ensure_first(&main)?.id)
            }
        };
        self.engine.create(&Create {
            id: Some(id),
            title: Some(title(name)),
            metadata: Some(metadata(name)?),
            parent,
            ..Create::in_workspace(self.workspace.clone())
        })
    }
}

pub(crate) fn metadata(name: &ThreadName) -> Result<forklore_core::Data> {
    name.metadata().map_err(|error| invalid("thread", error.to_string()))
}

/// Returns the id of the first session of a thread, of which so many were deleted before.
fn first_id_of(name: &ThreadName, deleted: u64) -> Result<SessionId> {
    derived(&[&name.thread_id, &name.namespace, &deleted.to_string()])
}

/// Returns the id of a session that LangGraph's ids determine.
pub(crate) fn derived(parts: &[&str]) -> Result<SessionId> {
    SessionId::derived("langgraph", parts)
        .map_err(|source| Error::Name { what: "session id", source })
}

pub(crate) fn title(name: &ThreadName) -> String {
    let mut title = name.thread_id.clone();
    if !name.namespace.is_empty() {
        title = format!("{title} {}", name.namespace);
    }
    let mut end = title.len().min(TITLE_BYTES);
    while !title.is_char_boundary(end) {
        end -= 1;
    }
    title.truncate(end);
    title
}

pub(crate) fn is_gone(error: &Error) -> bool {
    matches!(
        error,
        Error::InTrash(_) | Error::Store(StoreError::NotFound(_) | StoreError::Deleted(_))
    )
}
