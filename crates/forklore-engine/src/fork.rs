//! `fork`: creates a branch (another continuation) or a delegate (a sub-agent) of a session.

mod existing;
mod plan;
mod record;

use forklore_api::{Fork, Forked};
use forklore_core::operation::OperationKind;
use forklore_core::{Header, Label, SessionId, SessionKind, Strategy};
use forklore_store::Error as StoreError;
use forklore_store::port::{Beginning, NewSession, Write};

use crate::{Engine, Error, Result, living};
use plan::Plan;
pub(crate) use record::FORKED_BEFORE;
pub use record::{ForkRecord, limitations, synthetic_result};

/// Maximum number of further ids that a fork generates if the earlier ones are taken.
const MOST_IDS: u64 = 10_000;

impl Engine {
    /// Creates a child of a session: a branch or a delegate (docs/semantics.md, Fork). If `dry_run`
    /// is set, computes the result but creates nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Create, Engine, Fork, NewEvent};
    /// # use forklore_core::workspace::Workspace;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?;
    /// for text in ["one", "two", "three"] {
    ///     engine.append(&main.id, &NewEvent::user(text)?.into())?;
    /// }
    ///
    /// let fork = engine.fork(&Fork::of(main.id).at("turn:2".parse()?))?;
    /// assert_eq!((fork.cut.index, fork.event_count), (2, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `not_found`: the parent does not exist or was deleted.
    /// - `invalid_args`: the cut is invalid.
    /// - `conflict`: the cut leaves tool calls open under [`forklore_core::ToolCallPolicy::Error`],
    ///   or the child would exceed the maximum depth.
    /// - `permission_denied`: the request has a permission that is not in the parent's ceiling (the
    ///   permissions that the parent may use at most).
    /// - `already_exists`: another session has the id or the label, or the child with this id
    ///   differs from what the request asks for.
    pub fn fork(&self, request: &Fork) -> Result<Forked> {
        let named = [Some(&request.parent), request.id.as_ref()].into_iter().flatten();
        let named: Vec<_> = named.cloned().collect();
        let mut headers = self.store.headers(&named)?.into_iter();
        let missing = || StoreError::NotFound(request.parent.clone());
        let parent = living(headers.next().ok_or_else(missing)??)?;
        let plan = Plan::make(self, &parent, request)?;
        if let Some(found) = headers.next()
            && let Some(existing) = self.same_child(found, request, &plan)?
        {
            return self.existing(&existing, &plan, request.dry_run);
        }
        if request.dry_run {
            return self.would_fork(&parent, request, plan);
        }
        self.make_child(&parent, request, plan)
    }

    /// Forks like [`fork`](Self::fork). If the branch would exceed the maximum fork depth, it gets
    /// its own copy of the history instead. Such a copy may have any depth.
    ///
    /// # Errors
    /// The errors of [`fork`](Self::fork), except the one for the depth.
    pub fn fork_or_copy(&self, request: &Fork) -> Result<Forked> {
        match self.fork(request) {
            Err(Error::TooDeep { .. }) => {
                self.fork(&Fork { strategy: Strategy::ReplayV1, ..request.clone() })
            }
            forked => forked,
        }
    }

    fn would_fork(&self, parent: &Header, request: &Fork, mut plan: Plan) -> Result<Forked> {
        let is_free = |id: &_| matches!(self.store.header(id), Err(StoreError::NotFound(_)));
        let mut ids = 0;
        while request.id.is_none() && ids < MOST_IDS && !is_free(&plan.child) {
            ids += 1;
            plan.child = self.new_fork_id(&parent.id, request.id_style, ids);
        }
        let label = match &request.label {
            Some(label) => self.free_label(parent, label)?,
            None => self.default_label(parent, plan.kind, &plan.child)?,
        };
        let mut forked = plan.forked(parent, Outcome::Planned);
        forked.label = label;
        Ok(forked)
    }

    fn make_child(&self, parent: &Header, request: &Fork, mut plan: Plan) -> Result<Forked> {
        let (mut ids, mut labels) = (0, 0);
        loop {
            let label = match &request.label {
                Some(label) => label.clone(),
                None => Label::of_child(plan.kind, &plan.child, labels),
            };
            let new = plan.new_session(self, parent, request, label)?;
            match self.create_child(request, new) {
                Ok(child) => return Ok(plan.forked(&child, Outcome::Made)),
                // There is always a further default label.
                Err(StoreError::LabelInUse { .. }) if request.label.is_none() => labels += 1,
                // Another process generated the same id in the same millisecond.
                Err(StoreError::IdInUse(_)) if request.id.is_none() && ids < MOST_IDS => {
                    (ids, labels) = (ids + 1, 0);
                    plan.child = self.new_fork_id(&parent.id, request.id_style, ids);
                }
                // Another process created the child after the check in `fork`.
                Err(StoreError::IdInUse(id)) if request.id.is_some() => {
                    return match self.same_child(self.store.header(&id), request, &plan)? {
                        Some(existing) => self.existing(&existing, &plan, false),
                        None => Err(StoreError::IdInUse(id).into()),
                    };
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn create_child(&self, request: &Fork, new: NewSession) -> Result<Header, StoreError> {
        if !request.rewind {
            return self.store.create(new);
        }
        let writes = vec![Write::Create(Box::new(new))];
        self.store.commit(self.recorded(OperationKind::Rewind, writes))?.created()
    }

    fn existing(&self, child: &Header, plan: &Plan, dry_run: bool) -> Result<Forked> {
        let would_record_branch_summary = self.summary_at_fork(child)?.is_some();
        let forked = plan.forked(child, Outcome::Existing(dry_run));
        Ok(Forked { would_record_branch_summary, ..forked })
    }

    fn free_label(&self, parent: &Header, label: &Label) -> Result<Label> {
        match self.label_owner(parent, label)? {
            None => Ok(label.clone()),
            Some(by) => Err(StoreError::LabelInUse { label: label.clone(), by }.into()),
        }
    }

    fn default_label(
        &self,
        parent: &Header,
        kind: SessionKind,
        child: &SessionId,
    ) -> Result<Label> {
        let mut attempt = 0;
        loop {
            let label = Label::of_child(kind, child, attempt);
            if self.label_owner(parent, &label)?.is_none() {
                return Ok(label);
            }
            attempt += 1;
        }
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Planned,
    Made,
    /// The fork found the requested child already in the store. The field states whether the
    /// request was a dry run.
    Existing(bool),
}

impl Plan {
    fn forked(&self, header: &Header, outcome: Outcome) -> Forked {
        let (recorded, existing, dry_run) = match outcome {
            Outcome::Planned => (false, false, true),
            Outcome::Made => (true, false, false),
            Outcome::Existing(dry_run) => (false, true, dry_run),
        };
        let event_count = self.inherited();
        // If the child exists, its own header is newer than the plan. Use the head from that
        // header.
        let head_seq = if dry_run && !existing { self.head_seq() } else { header.head_seq() };
        Forked {
            recorded,
            existing,
            dry_run,
            apply: None,
            parent_session_id: self.parent.clone(),
            child_session_id: self.child.clone(),
            root_session_id: header.root_id.clone(),
            kind: self.kind,
            label: header.label.clone(),
            strategy: header.strategy.filter(|_| !dry_run || existing).unwrap_or(self.strategy),
            cut: self.cut.clone(),
            adjusted_from: self.adjusted_from.clone(),
            requested: self.requested.clone(),
            event_count,
            synthetic_results: self.synthetic.len(),
            would_record_branch_summary: self.summarize.is_some(),
            head_seq,
            worktree: None,
            resume_command: None,
        }
    }

    fn new_session(
        &self,
        engine: &Engine,
        parent: &Header,
        request: &Fork,
        label: Label,
    ) -> Result<NewSession> {
        let created = engine.now();
        let (events, usage) = self.first_events(engine, parent, created)?;
        Ok(NewSession {
            id: self.child.clone(),
            kind: self.kind,
            label,
            title: request.title.clone(),
            workspace: self.workspace.clone(),
            principal: self.principal.clone(),
            permissions: self.permissions.clone(),
            metadata: request.metadata.clone(),
            config: request.config.clone(),
            dialect: parent.dialect.clone().filter(|_| self.inherited() > 0),
            source: None,
            copy_of: None,
            created,
            from: Some(Beginning {
                parent: parent.id.clone(),
                cut: self.cut.clone(),
                strategy: self.strategy,
                tool_calls: self.tool_calls,
            }),
            events,
            usage,
        })
    }
}
