//! The permission ceiling of a session, and tools that are restricted to such a ceiling.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::approve::Policy;
use crate::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};

/// The permission ceiling of a session: the set of permissions that the session can have, or no
/// limit. A session's ceiling never widens (docs/semantics.md, Fork).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ceiling(Option<BTreeSet<String>>);

impl From<Option<BTreeSet<String>>> for Ceiling {
    fn from(permissions: Option<BTreeSet<String>>) -> Self {
        Self(permissions)
    }
}

impl Ceiling {
    /// Returns the permissions that both ceilings allow. A child gets this ceiling if its parent
    /// has `self` and the child requests `other`.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(match (&self.0, &other.0) {
            (Some(ours), Some(theirs)) => Some(ours & theirs),
            (one, None) | (None, one) => one.clone(),
        })
    }

    /// Checks whether the ceiling allows the permission with this name.
    #[must_use]
    pub fn allows(&self, permission: &str) -> bool {
        self.0.as_ref().is_none_or(|permissions| permissions.contains(permission))
    }

    /// Returns the permissions in the form in which a session's header stores them. `None` is no
    /// limit.
    #[must_use]
    pub fn into_permissions(self) -> Option<BTreeSet<String>> {
        self.0
    }
}

/// A set of tools, restricted to those that a permission ceiling allows. The model does not see the
/// tools that the ceiling forbids.
pub struct Below {
    tools: Arc<dyn Tools>,
    policy: Arc<dyn Policy>,
    ceiling: Ceiling,
}

impl Below {
    /// Restricts `tools` to the tools whose permissions are in `ceiling`. `policy` determines which
    /// permission each tool needs.
    #[must_use]
    pub fn new(tools: Arc<dyn Tools>, policy: Arc<dyn Policy>, ceiling: Ceiling) -> Self {
        Self { tools, policy, ceiling }
    }

    fn allows(&self, name: &str) -> bool {
        self.ceiling.allows(&permission(&*self.policy, name))
    }
}

impl Tools for Below {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.retain(|spec| self.allows(&spec.name));
        specs
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        if self.allows(&call.name) {
            return self.tools.call(call, context);
        }
        Box::pin(async { ToolOutcome::failed(&format!("there is no tool {}", call.name)) })
    }
}

/// Returns the permission that the policy requires for the tool with this name.
pub(crate) fn permission(policy: &dyn Policy, tool: &str) -> String {
    let arguments = forklore_core::Data::null();
    policy.permission(&ToolCall { id: String::new(), name: tool.to_owned(), arguments })
}
