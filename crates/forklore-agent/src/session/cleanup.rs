//! `cleanup`: ends a session and its open children in this process.

use std::sync::Arc;

use forklore_core::SessionId;
use forklore_engine::Engine;

use super::{AgentSession, Inner};
use crate::notify::KernelEvent;
use crate::notify::event::SessionEnded;
use crate::turn::is_within;

/// An open session that a cleanup ends. The number says how many generations the session is below
/// the session whose `cleanup` was called. That session itself has 0.
type Ending = (usize, Arc<Inner>);

impl AgentSession {
    /// Ends the session in this process and interrupts its running turn. If a turn of the session
    /// ran in this process, announces `session:end` once, with the status of the last turn. With
    /// `cascade_children`, first ends all descendants of the session that are open in this process,
    /// children before their parents. Deletes nothing: to continue the session, open it again.
    ///
    /// A tool may call this function for a session whose turn called the tool. The function then
    /// returns at once, and the session ends when its turn has ended.
    pub async fn cleanup(&self, cascade_children: bool) {
        self.inner.close(cascade_children);
        let mut ending = vec![(0, self.inner.clone())];
        if cascade_children {
            // Interrupt this session's work first. Otherwise this work could open a child again
            // after the loop has closed the child.
            self.interrupt();
            loop {
                let found = self.open_descendants(&ending).await;
                if found.is_empty() {
                    break;
                }
                for (_, inner) in &found {
                    inner.close(true);
                }
                ending.extend(found);
            }
        }
        ending.sort_by_key(|(distance, _)| std::cmp::Reverse(*distance));
        let is_inside = ending.iter().any(|(_, inner)| is_within(&inner.context));
        let kernel = self.inner.home.kernel.clone();
        // The sessions end even if the future of this function is dropped.
        let work = tokio::spawn(async move {
            for (_, inner) in ending {
                AgentSession { inner }.end().await;
            }
        });
        if is_inside {
            kernel.await_release(work);
        } else {
            // The work fails only if the async runtime shuts down.
            let _ = work.await;
        }
    }

    /// Returns the open descendants of this session that are not in `found`.
    async fn open_descendants(&self, found: &[Ending]) -> Vec<Ending> {
        let mut alive = self.inner.home.live.all();
        alive.retain(|inner| !found.iter().any(|(_, other)| Arc::ptr_eq(other, inner)));
        let parents: Vec<_> =
            alive.iter().map(|inner| inner.context.identity().parent_id).collect();
        let lines = self.inner.home.kernel.run(move |engine| {
            Ok(parents.into_iter().map(|parent| ancestors(engine, parent)).collect::<Vec<_>>())
        });
        let lines = lines.await.unwrap_or_default();
        let below = alive.into_iter().zip(lines).filter_map(|(inner, line)| {
            let above = line.iter().position(|id| self.inner.context.is_or_was(id))?;
            Some((above + 1, inner))
        });
        below.collect()
    }

    async fn end(&self) {
        let inner = &self.inner;
        self.interrupt();
        // Wait until a running turn has ended.
        let _turn = inner.turn.lock().await;
        let ran = inner.state().ran.take();
        if let Some(status) = ran {
            inner.context.announce(KernelEvent::SessionEnd(SessionEnded { status }));
        }
    }
}

impl Inner {
    /// Refuses further turns and children of the session.
    fn close(&self, with_children: bool) {
        let mut state = self.state();
        state.ended = true;
        state.ended_with_children |= with_children;
    }
}

/// Returns the ids of a parent and of its ancestors, the nearest first. Reads the ids from the
/// store, so the sessions need not be open.
fn ancestors(engine: &Engine, parent: Option<SessionId>) -> Vec<SessionId> {
    let Some(parent) = parent else { return Vec::new() };
    // If an ancestor is damaged, its descendants are found as far as the line can be read.
    let above = engine.lineage(&parent).map(|lineage| lineage.ancestors).unwrap_or_default();
    let above = above.into_iter().map(|ancestor| ancestor.session_id);
    std::iter::once(parent).chain(above).collect()
}
