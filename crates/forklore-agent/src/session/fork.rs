//! `fork`: another continuation of a session, also while a turn of it runs.

use forklore_core::SessionKind;
use forklore_engine::{Fork, Forked};

use super::AgentSession;
use crate::hook::Matter;
use crate::notify::Identity;
use crate::{Error, Result};

/// A fork, and the child as a session to go on with. To stay, drop the child: it is stored.
#[must_use]
pub struct Branched {
    /// What the fork came to.
    pub forked: Forked,
    /// The child, with its parent's equipment.
    pub child: AgentSession,
}

impl AgentSession {
    /// Forks this session; of the request, `parent` is set to it. A turn that runs goes on; without
    /// a cut the fork is then at the end of the last closed turn (SPEC 5). The hooks are asked
    /// before anything is written, and `session:fork` is announced when the child is durable.
    ///
    /// # Errors
    /// `invalid_args` (the cut), `already_exists`, `permission_denied` (a hook, or a permission
    /// that this session does not have).
    pub async fn fork(&self, request: Fork) -> Result<Branched> {
        let here = self.identity();
        if self.inner.state().ended {
            return Err(Error::Ended(here.session_id));
        }
        let kernel = &self.inner.kernel;
        let child_id = request.id.clone().unwrap_or_else(|| kernel.engine().new_id());
        let request = Fork { parent: here.session_id.clone(), id: Some(child_id), ..request };
        let child = Identity {
            session_id: request.id.clone().unwrap_or_else(|| here.session_id.clone()),
            parent_id: Some(here.session_id),
            root_id: here.root_id,
        };
        let kind = request.kind;
        if !request.dry_run {
            let matter = Matter::Fork { kind, fork: Some(&request) };
            self.inner.must_pass(&child, matter).await?;
            self.inner.must_pass(&child, Matter::Ready { config: request.config.as_ref() }).await?;
        }
        let (forked, header) = kernel
            .run(move |engine| {
                let forked = engine.fork(&request)?;
                let child = if forked.dry_run && !forked.existing {
                    &forked.parent_session_id
                } else {
                    &forked.child_session_id
                };
                let header = engine.show(child)?;
                Ok((forked, header))
            })
            .await?;
        let child = Self::of(kernel, &header, self.equipment());
        if forked.recorded {
            debug_assert_ne!(kind, SessionKind::Root);
            child.inner.made(&header);
        }
        Ok(Branched { forked, child })
    }
}
