//! Deletes a thread.

use forklore_api::{Delete, DeleteMode};
use forklore_core::{Header, SessionKind};
use forklore_engine::Result;
use forklore_store::port::Filter;

use crate::open::is_gone;
use crate::saver::Saver;
use crate::thread::ThreadName;

impl Saver {
    /// Deletes a thread with all its namespaces. Its sessions go into the trash, as every deleted
    /// session does. Copies of the thread remain as they are. A thread that does not exist is deleted
    /// already.
    ///
    /// # Errors
    /// `busy` if a runtime has leased a session of the thread, and the errors of a delete.
    pub fn delete_thread(&self, thread_id: &str) -> Result<()> {
        let main = ThreadName { thread_id: thread_id.to_owned(), namespace: String::new() };
        let Some(first) = self.first_session(&main)? else { return Ok(()) };
        let filter = Filter { family: Some(first.root_id), ..Filter::default() };
        let family = self.engine.store().sessions(&filter, None, 0)?.all()?;
        let is_ours =
            |it: &Header| ThreadName::of(it).is_some_and(|name| name.thread_id == thread_id);
        let (mut ours, others): (Vec<_>, Vec<_>) = family.into_iter().partition(is_ours);
        if self.engine.store().capabilities().detach_first {
            self.detach(&ours, &others)?;
        }
        // A session goes before the one from which it was forked. The first session of the thread
        // goes last, so that a delete that fails midway can be repeated.
        ours.sort_by_key(|it| (it.id == first.id, std::cmp::Reverse(it.depth)));
        for header in &ours {
            let deleted = self.engine.delete(&Delete {
                session: header.id.clone(),
                mode: DeleteMode::DetachChildren,
                dry_run: false,
                erase: false,
            });
            match deleted {
                // It went with its parent.
                Err(error) if is_gone(&error) => {}
                deleted => drop(deleted?),
            }
        }
        for name in ours.iter().filter_map(ThreadName::of) {
            self.forget(&name);
        }
        Ok(())
    }

    /// Gives the forks of the thread that remain their own history, in a store that needs that.
    fn detach(&self, ours: &[Header], others: &[Header]) -> Result<()> {
        for other in others.iter().filter(|it| it.kind == SessionKind::Branch && !it.detached) {
            if ours.iter().any(|it| Some(&it.id) == other.parent_id.as_ref()) {
                self.engine.detach(&other.id)?;
            }
        }
        Ok(())
    }
}
