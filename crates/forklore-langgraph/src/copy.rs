//! Copies a thread.

use std::collections::HashSet;

use forklore_api::Fork;
use forklore_core::{Header, SessionId, ToolCallPolicy};
use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::port::Filter;

use crate::open::{derived, metadata, title};
use crate::saver::Saver;
use crate::thread::ThreadName;

impl Saver {
    /// Copies a thread: each of its sessions is forked at its end. Nothing that is stored is copied,
    /// so the cost does not depend on the length of the thread. Later changes of one thread do not
    /// affect the other.
    ///
    /// # Errors
    /// `not_found` if the thread does not exist, `already_exists` if the target does, and the errors
    /// of a fork. A copy that fails midway leaves no target.
    pub fn copy_thread(&self, source: &str, target: &str) -> Result<()> {
        let name = |thread_id: &str| ThreadName {
            thread_id: thread_id.to_owned(),
            namespace: String::new(),
        };
        let first = self.first_session(&name(source))?;
        let first =
            first.ok_or_else(|| Error::NoMatch { what: "the thread to copy".to_owned() })?;
        let (main, existing) = self.first_id(&name(target))?;
        if existing.is_some() {
            return Err(StoreError::IdInUse(main).into());
        }
        let filter = Filter { family: Some(first.root_id), ..Filter::default() };
        let mut sessions = self.engine.store().sessions(&filter, None, 0)?.all()?;
        sessions.retain(|it| ThreadName::of(it).is_some_and(|name| name.thread_id == source));
        sessions.sort_by(|a, b| (a.depth, a.created, &a.id).cmp(&(b.depth, b.created, &b.id)));
        let (mut named, mut made) = (HashSet::new(), false);
        for session in &sessions {
            match self.copy_session(session, target, &main, &mut named) {
                Ok(new) => made |= new,
                Err(error) => {
                    // If nothing was made, the target is what somebody else has created meanwhile.
                    if made {
                        // The failure of the copy is what the caller must know.
                        let _ = self.delete_thread(target);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Forks a session of the thread for the thread `target`, whose first session gets the id `main`.
    /// Returns whether this made a session.
    fn copy_session(
        &self,
        session: &Header,
        target: &str,
        main: &SessionId,
        named: &mut HashSet<ThreadName>,
    ) -> Result<bool> {
        let Some(source) = ThreadName::of(session) else { return Ok(false) };
        let name = ThreadName { thread_id: target.to_owned(), ..source };
        if session.counts.inheritable == 0 {
            // Nothing can be forked. The session of a namespace needs that of its thread, though.
            let is_needed = name.namespace.is_empty() && named.is_empty();
            if is_needed {
                self.create_first(&name, main.clone())?;
                named.insert(name);
            }
            return Ok(is_needed);
        }
        // The first session of each namespace is the one by which it is found.
        let is_first = named.insert(name.clone());
        let (first, is_free) = match name.namespace.as_str() {
            "" => (main.clone(), true),
            _ => {
                let (first, existing) = self.first_id(&name)?;
                (first, existing.is_none())
            }
        };
        let id = match is_first && is_free {
            true => first,
            false => derived(&[first.as_str(), session.id.as_str(), target])?,
        };
        let forked = self.engine.fork_or_copy(&Fork {
            id: Some(id),
            title: Some(title(&name)),
            tool_calls: ToolCallPolicy::Verbatim,
            metadata: Some(metadata(&name)?),
            ..Fork::of(session.id.clone()).at(forklore_core::Selector::End)
        })?;
        Ok(forked.recorded)
    }
}
