//! Lists checkpoints.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use forklore_core::Header;
use forklore_engine::Result;
use forklore_store::port::Filter;
use serde_json::json;

use crate::request::List;
use crate::saver::{Saver, read};
use crate::thread::{Thread, ThreadName};

impl Saver {
    /// Returns the names of checkpoints, as a list of `[thread_id, namespace, [ids]]`. The thread that
    /// was written to last comes first, and in each thread and namespace the newest checkpoint.
    ///
    /// # Errors
    /// The errors of a read.
    pub fn list(&self, request: &str) -> Result<String> {
        let request: List = read(request)?;
        let mut left = request.limit.unwrap_or(usize::MAX);
        let mut listed = Vec::new();
        let is_wanted = |id: &str| {
            request.id.as_deref().is_none_or(|wanted| wanted == id)
                && request.before.as_deref().is_none_or(|before| id < before)
        };
        let (thread_id, namespace) = (request.thread_id.as_deref(), request.namespace.as_deref());
        self.visit(thread_id, namespace, |name, thread| {
            let ids = thread.listed().map(|(id, _)| id.to_string()).filter(|id| is_wanted(id));
            let ids: Vec<_> = ids.take(left).collect();
            left -= ids.len();
            if !ids.is_empty() {
                listed.push(json!([name.thread_id, name.namespace, ids]));
            }
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(serde_json::Value::from(listed).to_string())
    }

    /// Visits the threads with this id and namespace, if they are given, until `visit` breaks. The one
    /// that was written to last comes first.
    pub(crate) fn visit(
        &self,
        thread_id: Option<&str>,
        namespace: Option<&str>,
        mut visit: impl FnMut(&ThreadName, &Thread) -> ControlFlow<()>,
    ) -> Result<()> {
        if let (Some(thread_id), Some(namespace)) = (thread_id, namespace) {
            let (thread_id, namespace) = (thread_id.to_owned(), namespace.to_owned());
            let name = ThreadName { thread_id, namespace };
            if let Some(slot) = self.open(&name)? {
                let _ = visit(&name, &slot.thread());
            }
            return Ok(());
        }
        // First the feed, so that no session is newer than what follows it.
        self.refresh()?;
        for (name, sessions) in self.sessions_by_thread(thread_id, namespace)? {
            let Some(slot) = self.open_listed(&name, sessions)? else { continue };
            if visit(&name, &slot.thread()).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the sessions of all threads with this id or namespace, if one is given.
    fn sessions_by_thread(
        &self,
        thread_id: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Vec<(ThreadName, Vec<Header>)>> {
        let mut filter = Filter::default();
        if let Some(thread_id) = thread_id {
            let main = ThreadName { thread_id: thread_id.to_owned(), namespace: String::new() };
            let Some(first) = self.first_session(&main)? else { return Ok(Vec::new()) };
            filter.family = Some(first.root_id);
        }
        let is_wanted = |name: &ThreadName| {
            thread_id.is_none_or(|id| id == name.thread_id)
                && namespace.is_none_or(|namespace| namespace == name.namespace)
        };
        let mut threads: BTreeMap<ThreadName, Vec<Header>> = BTreeMap::new();
        for header in self.engine.store().sessions(&filter, None, 0)?.all()? {
            if let Some(name) = ThreadName::of(&header).filter(is_wanted) {
                threads.entry(name).or_default().push(header);
            }
        }
        let mut threads: Vec<_> = threads.into_iter().collect();
        threads.sort_by_cached_key(|(_, all)| Reverse(all.iter().map(|it| it.updated).max()));
        Ok(threads)
    }
}
