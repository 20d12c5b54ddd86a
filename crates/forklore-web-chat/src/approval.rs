//! The questions of a turn: which tool calls may run.

use forklore_agent::approve::Answer as Decision;
use forklore_core::ErrorKind;
use forklore_host::PendingApproval;
use serde_json::Value;

use crate::refused::{Answer, Refused};
use crate::talk::Talk;
use crate::types::{Approval, ApprovalAnswered, ApprovalChoice};

impl Talk {
    /// Shows a question to everybody who follows the session.
    pub(crate) fn ask(&self, pending: PendingApproval) {
        let approval = {
            let mut state = self.state();
            let Some(current) = state.current.as_mut() else { return };
            current.questions += 1;
            let call = pending.question.call.as_ref();
            let approval = Approval {
                approval_id: format!("{}.{}", current.turn_id, current.questions),
                session_id: pending.question.session.clone(),
                tool_name: call.map(|call| call.name.clone()),
                arguments: call.map_or(Value::Null, |call| arguments(call.arguments.get())),
                prompt: pending.question.prompt.clone(),
            };
            state.pending.push((approval.clone(), pending));
            approval
        };
        self.stream.push("approval", &approval);
    }

    /// Answers a question. The first answer counts.
    pub(crate) fn decide(
        &self,
        approval_id: &str,
        answer: ApprovalChoice,
        by: &str,
    ) -> Answer<ApprovalAnswered> {
        let (approval, pending, approvals) = {
            let mut state = self.state();
            let at = state.pending.iter().position(|(it, _)| it.approval_id == approval_id);
            let at = at.ok_or_else(|| {
                let detail = "this question was answered before, or its turn has ended";
                Refused::new(ErrorKind::Conflict, detail)
                    .or_try("GET .../turns/current lists the questions that wait")
            })?;
            let (approval, pending) = state.pending.remove(at);
            (approval, pending, state.approvals.clone())
        };
        let decision = match (answer, approval.tool_name.as_deref(), approvals) {
            (ApprovalChoice::Always, Some(tool), Some(approvals)) => approvals.always(tool),
            (ApprovalChoice::Deny, ..) => Decision::Denied(Some(format!("{by} said no"))),
            _ => Decision::Granted(Some(format!("allowed by {by}"))),
        };
        let (approval_id, by) = (approval.approval_id, by.to_owned());
        let answered = ApprovalAnswered { approval_id, answer, by };
        self.stream.push("answered", &answered);
        pending.answer(decision);
        Ok(answered)
    }
}

/// Returns the arguments as JSON, or as the text that the model wrote if it is none.
fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
