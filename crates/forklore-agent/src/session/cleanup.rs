//! `cleanup`: ends a session and its open children in this process.

use std::sync::Arc;

use super::AgentSession;
use crate::notify::KernelEvent;
use crate::notify::event::NoDetails;

impl AgentSession {
    /// Ends the session in this process: interrupts a running turn and announces `session:end`
    /// once. With `cascade_children`, first ends the session's open descendants, children before
    /// their parents. Deletes nothing: to continue the session, open it again.
    pub async fn cleanup(&self, cascade_children: bool) {
        let mut ending = vec![self.inner.clone()];
        if cascade_children {
            // Interrupt this session's work first. Otherwise the work could start a child again
            // that ends here.
            self.interrupt();
            let alive = self.inner.home.live.all();
            let mut at = 0;
            while let Some(above) = ending.get(at).cloned() {
                let below = alive.iter().filter(|inner| {
                    inner.is_below(&above) && !ending.iter().any(|other| Arc::ptr_eq(other, inner))
                });
                let below: Vec<_> = below.cloned().collect();
                ending.extend(below);
                at += 1;
            }
        }
        for inner in ending.into_iter().rev() {
            AgentSession { inner }.end().await;
        }
    }

    async fn end(&self) {
        let inner = &self.inner;
        inner.state().ended = true;
        self.interrupt();
        // Wait until a running turn has ended.
        let _turn = inner.turn.lock().await;
        let started = std::mem::take(&mut inner.state().started);
        if started {
            inner.context.announce(KernelEvent::SessionEnd(NoDetails {}));
        }
    }
}
