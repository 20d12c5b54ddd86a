//! Extends the user's policy by tools that are allowed for one run of the program.

use forklore_agent::approve::{Policy, Rule};
use forklore_agent::tool::ToolCall;
use forklore_mcp_client::Pattern;

/// A policy that wraps `policy` and requires no approval for calls of `tools`.
///
/// The rule `Ask` of the wrapped policy becomes `Allow` for these tools. Calls that the wrapped
/// policy denies stay denied. A session's ceiling (the permissions in its header) is checked before
/// any policy.
pub(crate) struct AllowedInRun<P> {
    pub(crate) policy: P,
    pub(crate) tools: Vec<Pattern>,
}

impl<P: Policy> Policy for AllowedInRun<P> {
    fn rule(&self, call: &ToolCall) -> Rule {
        match self.policy.rule(call) {
            Rule::Ask => {
                let tool = self.permission(call);
                let allowed = self.tools.iter().any(|pattern| pattern.fits(&tool));
                if allowed { Rule::Allow } else { Rule::Ask }
            }
            rule => rule,
        }
    }

    fn permission(&self, call: &ToolCall) -> String {
        self.policy.permission(call)
    }
}

#[cfg(test)]
mod tests {
    use forklore_core::Data;
    use forklore_mcp_client::Rules;

    use super::*;

    struct Configured(Rules);

    impl Policy for Configured {
        fn rule(&self, call: &ToolCall) -> Rule {
            self.0.of(&call.name)
        }
    }

    #[test]
    fn a_run_allows_what_needs_approval_and_nothing_that_is_denied() {
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let rules = Rules {
            allow: patterns(&["files.read"]),
            ask: patterns(&["files.write"]),
            deny: patterns(&["files.move"]),
        };
        let policy = AllowedInRun { policy: Configured(rules), tools: patterns(&["files.*"]) };
        let rule = |name: &str| {
            let call =
                ToolCall { id: String::new(), name: name.to_owned(), arguments: Data::null() };
            policy.rule(&call)
        };
        let rules = ["files.read", "files.write", "files.list", "files.move", "web.get"].map(rule);
        assert_eq!(rules, [Rule::Allow, Rule::Allow, Rule::Allow, Rule::Deny, Rule::Ask]);
    }
}
