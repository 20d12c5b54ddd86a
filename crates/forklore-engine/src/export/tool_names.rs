//! Finds the tools to which results belong. Some agents record the name of a tool only with its
//! call.

use std::collections::HashMap;

use forklore_core::call::{CallStep, OpenCall};
use forklore_core::{Content, Message, Part};

/// The tool calls of a history that have no result yet: the name of the tool by the call's id.
#[derive(Debug, Default)]
pub(super) struct ToolNames(HashMap<String, String>);

impl ToolNames {
    /// Adds the calls that an event opens, and removes those that it closes.
    pub(super) fn pass(&mut self, steps: &[CallStep]) {
        for step in steps {
            match step {
                CallStep::Open(OpenCall { id, name }) => {
                    self.0.insert(id.clone(), name.clone());
                }
                CallStep::Close(id) => {
                    self.0.remove(id);
                }
            }
        }
    }

    /// Removes a call, and returns the name of its tool. Returns `None` if the call is not open.
    pub(super) fn take(&mut self, call: &str) -> Option<String> {
        self.0.remove(call)
    }

    /// Adds the names of the tools to the results in a message. `steps` are the calls that the
    /// message opens or closes.
    pub(super) fn complete(&mut self, message: &mut Message, steps: &[CallStep]) {
        let (opened, closed): (Vec<_>, Vec<_>) =
            steps.iter().cloned().partition(|step| matches!(step, CallStep::Open(_)));
        self.pass(&opened);
        if let Content::Parts(parts) = &mut message.content {
            for part in parts {
                if let Part::ToolResult { call_id, name: name @ None, .. } = part {
                    *name = self.0.get(call_id).filter(|tool| !tool.is_empty()).cloned();
                }
            }
        }
        self.pass(&closed);
    }
}

#[cfg(test)]
mod tests {
    use forklore_core::{Data, Role};

    use super::*;

    #[test]
    fn a_result_gets_the_name_of_its_tool_once() {
        let mut names = ToolNames::default();
        names.pass(&[CallStep::Open(OpenCall { id: "1".into(), name: "ls".into() })]);
        let mut completed = || {
            let (call_id, content) = ("1".into(), Data::parse("\"\"").unwrap());
            let (name, is_error, synthetic) = (None, false, false);
            let result = Part::ToolResult { call_id, name, content, is_error, synthetic };
            let mut message = Message::parts(Role::Tool, vec![result]);
            names.complete(&mut message, &[CallStep::Close("1".into())]);
            match &message.to_parts()[0] {
                Part::ToolResult { name, .. } => name.clone(),
                _ => None,
            }
        };
        assert_eq!([completed(), completed()], [Some("ls".into()), None]);
    }
}
