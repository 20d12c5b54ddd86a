//! Plans a fork: decides what to fork, and where, before anything is written.

use std::collections::BTreeSet;

use forklore_core::call::OpenCall;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Cut, CutError, Header, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use forklore_store::rules::{ForkDepth, Link, fork_depth, lease_of_other};

use super::Fork;
use crate::cut::Found;
use crate::header_limits::Limited;
use crate::{Engine, Error, Result, Summarize};

/// What a fork decides before it writes anything, such as the cut, the open tool calls, the
/// workspace and the permissions. These decisions are based on one snapshot of the parent's header.
/// The label is chosen later. A generated id is replaced later if it is in use.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) parent: SessionId,
    pub(super) child: SessionId,
    pub(super) kind: SessionKind,
    pub(super) strategy: Strategy,
    pub(super) tool_calls: ToolCallPolicy,
    pub(super) cut: Cut,
    /// Number of tool calls that have no result at the cut where the child begins.
    open: u64,
    /// The cut that the caller requested, if the fork uses an earlier one. It does if the requested
    /// cut leaves tool calls open and the policy is [`ToolCallPolicy::Remove`].
    pub(super) requested: Option<Cut>,
    pub(super) adjusted_from: Option<Cut>,
    pub(super) synthetic: Vec<OpenCall>,
    pub(super) summarize: Option<Summarize>,
    pub(super) workspace: Workspace,
    pub(super) principal: Option<String>,
    pub(super) permissions: Option<BTreeSet<String>>,
}

impl Plan {
    pub(super) fn make(engine: &Engine, parent: &Header, request: &Fork) -> Result<Self> {
        check(request)?;
        engine.check_depth(parent, request.kind, request.strategy)?;
        let mut plan = Self {
            parent: parent.id.clone(),
            child: request
                .id
                .clone()
                .unwrap_or_else(|| engine.new_fork_id(&parent.id, request.id_style, 0)),
            kind: request.kind,
            strategy: request.strategy,
            tool_calls: request.tool_calls,
            cut: Cut::default(),
            open: 0,
            requested: None,
            adjusted_from: None,
            synthetic: Vec::new(),
            summarize: request.summarize.clone(),
            workspace: request.workspace.clone().unwrap_or_else(|| parent.workspace.clone()),
            principal: request.principal.clone().or_else(|| parent.principal.clone()),
            permissions: permissions(parent, request)?,
        };
        plan.resolve_cut(engine, parent, request.at.as_ref())?;
        if plan.kind == SessionKind::Branch {
            plan.settle_open_calls(engine, parent, request.at.as_ref())?;
        }
        Ok(plan)
    }

    fn resolve_cut(
        &mut self,
        engine: &Engine,
        parent: &Header,
        at: Option<&Selector>,
    ) -> Result<()> {
        let running = lease_of_other(parent, None, engine.now()).map(|lease| lease.began_at);
        let selector = match (at, running) {
            (Some(requested), _) => requested.clone(),
            (None, None) => Selector::End,
            (None, Some(-1)) => {
                return Err(Error::nothing_to_fork(&parent.id, &Selector::End));
            }
            (None, Some(began_at)) => Selector::Seq(began_at),
        };
        let found = match engine.find_cut(parent, &selector) {
            // A delegate inherits nothing, so it may start from an empty session.
            Err(Error::Cut { source: CutError::NothingToFork { .. }, .. })
                if self.kind == SessionKind::Delegate =>
            {
                Found::default()
            }
            found => found?,
        };
        (self.cut, self.open) = (found.cut, found.open);
        if at.is_none() && running.is_some() {
            let end = engine.cut(parent, &Selector::End)?;
            self.adjusted_from = (end != self.cut).then_some(end);
        }
        Ok(())
    }

    fn settle_open_calls(
        &mut self,
        engine: &Engine,
        parent: &Header,
        at: Option<&Selector>,
    ) -> Result<()> {
        if self.open == 0 || self.tool_calls == ToolCallPolicy::Verbatim {
            return Ok(());
        }
        let open = engine.open_calls(parent, &self.cut)?;
        match self.tool_calls {
            ToolCallPolicy::Complete => self.synthetic = open.calls().cloned().collect(),
            ToolCallPolicy::Error => {
                let calls = open.calls().cloned().collect();
                return Err(Error::OpenCalls {
                    session: parent.id.clone(),
                    at: at.cloned(),
                    calls,
                });
            }
            ToolCallPolicy::Remove | ToolCallPolicy::Verbatim => {
                let moved = engine.cut_without_open_calls(parent, &self.cut)?;
                if moved.inheritable == 0 {
                    let requested = at.cloned().unwrap_or(Selector::End);
                    return Err(Error::nothing_to_fork(&parent.id, &requested));
                }
                let requested = std::mem::replace(&mut self.cut, moved);
                self.adjusted_from.get_or_insert_with(|| requested.clone());
                self.requested = Some(requested);
            }
        }
        Ok(())
    }

    /// Returns the number of events that the planned child inherits from its parent; 0 for a
    /// delegate (a sub-agent without inherited history).
    pub(super) fn inherited(&self) -> u64 {
        if self.kind == SessionKind::Delegate { 0 } else { self.cut.inheritable }
    }

    /// Returns the seq that the new child's last event will have directly after the fork.
    pub(super) fn head_seq(&self) -> i64 {
        let summary = self.summarize.as_ref().map_or(0, |by| 1 + by.usage().len() as u64);
        let tail = self.synthetic.len() as u64 + summary;
        i64::try_from(self.inherited() + tail).unwrap_or(i64::MAX)
    }
}

fn check(request: &Fork) -> Result<()> {
    if request.kind == SessionKind::Root {
        return Err(Error::invalid("kind", "a fork is a branch or a delegate"));
    }
    Limited {
        title: request.title.as_deref(),
        principal: request.principal.as_deref(),
        metadata: request.metadata.as_ref(),
        config: request.config.as_ref(),
    }
    .check()
}

fn permissions(parent: &Header, request: &Fork) -> Result<Option<BTreeSet<String>>> {
    let Some(requested) = &request.permissions else { return Ok(parent.permissions.clone()) };
    if let Some(ceiling) = &parent.permissions
        && let Some(beyond) = requested.difference(ceiling).next()
    {
        return Err(Error::Permission(beyond.clone()));
    }
    Ok(Some(requested.clone()))
}

impl Engine {
    /// Returns an error if a branch of `parent` that shares its history would exceed the maximum
    /// fork depth. A delegate or a copy depends on no ancestor, so it is never too deep.
    fn check_depth(&self, parent: &Header, kind: SessionKind, strategy: Strategy) -> Result<()> {
        let Some(max) = self.max_fork_depth else { return Ok(()) };
        if kind == SessionKind::Delegate || strategy == Strategy::ReplayV1 {
            return Ok(());
        }
        let find = |id: &_| Ok::<_, Error>(self.other_session(id)?.header().as_ref().map(Link::of));
        match fork_depth(Link::of(parent), max, find)? {
            ForkDepth::Circle => Err(Error::Cycle(parent.id.clone())),
            ForkDepth::Links(links) if links >= max => {
                Err(Error::TooDeep { session: parent.id.clone(), links: links.min(max), max })
            }
            ForkDepth::Links(_) => Ok(()),
        }
    }

    /// Returns how a new child of `parent` may store its history: shared, or as a copy if a branch
    /// that shares it would exceed the maximum fork depth.
    ///
    /// # Errors
    /// `lineage_cycle` if the parent links of `parent` form a cycle, and the errors of the store.
    pub fn strategy_within_depth(&self, parent: &Header, kind: SessionKind) -> Result<Strategy> {
        match self.check_depth(parent, kind, Strategy::ShareV1) {
            Ok(()) => Ok(Strategy::ShareV1),
            Err(Error::TooDeep { .. }) => Ok(Strategy::ReplayV1),
            Err(error) => Err(error),
        }
    }
}
