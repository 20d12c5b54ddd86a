//! Explains which rule makes a tool call wait for approval, and which rule would allow it.

use forklore_agent::approve::Rule;
use forklore_agent::tool::ToolCall;

use super::Chat;

impl Chat<'_> {
    /// Describes how the user can allow a call without being asked. Returns `None` if the user's
    /// rules allow the call already, because then a hook asks.
    pub(super) fn rule_for(&self, call: &ToolCall) -> Option<String> {
        let policy = self.conversation.session().equipment().policy;
        if policy.rule(call) != Rule::Ask {
            return None;
        }
        let tool = policy.permission(call);
        let configured = self.foreground.host().configured();
        let path = configured.path.display();
        let asks = configured.config.policy.ask.iter().find(|pattern| pattern.fits(&tool));
        Some(match asks {
            Some(asks) => format!(
                "asked because of ask = [\"{asks}\"] in [policy] of {path}; --allow {tool} lets it \
                 run in one run"
            ),
            None => format!(
                "no rule allows it: --allow {tool} does for one run, allow = [\"{tool}\"] in \
                 [policy] of {path} always"
            ),
        })
    }
}
