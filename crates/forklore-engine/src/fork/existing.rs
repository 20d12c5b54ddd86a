//! Decides whether an existing session with the requested id is the child that a fork asks for.

use forklore_api::{Fork, Summarize};
use forklore_core::Header;
use forklore_store::Error as StoreError;

use super::plan::Plan;
use crate::{Engine, Error, Result};

impl Engine {
    /// Decides whether the session that already has the child's id is the child that `request` asks
    /// for (docs/semantics.md, Fork). `found` is the result of looking up this id. Returns the
    /// session's header if the session has everything that `request` asks for. Returns `None` if no
    /// session has the id.
    ///
    /// # Errors
    /// `already_exists` if the session differs from what `request` asks for, or if `request` allows
    /// only a new session.
    pub(super) fn same_child(
        &self,
        found: forklore_store::Result<Header>,
        request: &Fork,
        plan: &Plan,
    ) -> Result<Option<Header>> {
        let existing = match found {
            Ok(existing) if request.must_be_new => {
                return Err(StoreError::IdInUse(existing.id).into());
            }
            Ok(existing) => existing,
            Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut differs = differences(&existing, request, plan);
        if differs.is_empty() && !self.has_requested_summary(&existing, request)? {
            differs.push("the summary");
        }
        if differs.is_empty() {
            return Ok(Some(existing));
        }
        Err(Error::OtherChild { id: existing.id, differs })
    }

    fn has_requested_summary(&self, existing: &Header, request: &Fork) -> Result<bool> {
        let Some(by) = &request.summarize else { return Ok(true) };
        let Some(strategy) = self.summary_at_fork(existing)? else { return Ok(false) };
        // A summary that was requested of a model may be a deterministic one, if the model failed.
        Ok(*by != Summarize::Deterministic || strategy == by.strategy())
    }
}

/// Names everything in the header of an existing session that differs from what the fork asks for.
/// If the session was deleted or has another parent, names only this.
fn differences(existing: &Header, request: &Fork, plan: &Plan) -> Vec<&'static str> {
    if existing.deleted.is_some() {
        return vec!["it was deleted, and its id stays taken"];
    }
    if existing.parent_id.as_ref() != Some(&plan.parent) {
        return vec!["the parent"];
    }
    let cut = existing.cut.as_ref().map(|cut| cut.inheritable);
    let same = [
        ("the kind", existing.kind == plan.kind),
        ("the cut", cut == Some(plan.cut.inheritable)),
        ("the tool-call policy", existing.tool_calls == Some(plan.tool_calls)),
        ("the label", holds(request.label.as_ref(), Some(&existing.label))),
        ("the title", holds(request.title.as_ref(), existing.title.as_ref())),
        ("the workspace", holds(request.workspace.as_ref(), Some(&existing.workspace))),
        ("the principal", holds(request.principal.as_ref(), existing.principal.as_ref())),
        ("the permissions", holds(request.permissions.as_ref(), existing.permissions.as_ref())),
        ("the metadata", holds(request.metadata.as_ref(), existing.metadata.as_ref())),
        ("the config", holds(request.config.as_ref(), existing.config.as_ref())),
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

/// Checks whether a session has the value that the caller asks for. If the caller asks for none,
/// every value is right.
fn holds<T: PartialEq>(requested: Option<&T>, existing: Option<&T>) -> bool {
    requested.is_none() || requested == existing
}
