//! Passes questions about tool calls to the front end, where a person answers them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use forklore_agent::approve::{Answer, Approve, Question};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

/// The reason that is recorded for a tool call when a person has allowed the tool until the program
/// ends.
const ALLOWED: &str = "allowed until the program ends";

/// A question about a tool call that waits for a person's answer.
pub struct PendingApproval {
    /// The kernel's question, with the tool call.
    pub question: Question,
    answer: oneshot::Sender<Answer>,
}

impl PendingApproval {
    /// Answers the question. Has no effect if the turn has already ended.
    pub fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

/// The approvals of a conversation: sends each question to the receiver that [`Approvals::channel`]
/// returned, and waits for the answer. Allows a call without a question if a person has allowed the
/// tool until the program ends.
pub struct Approvals {
    questions: mpsc::UnboundedSender<PendingApproval>,
    /// The names of the tools that need no approval until the program ends.
    always: Mutex<HashSet<String>>,
}

impl Approvals {
    /// Creates the approvals of a conversation, and the receiver of their questions. After the
    /// receiver is dropped, every call that needs approval is denied.
    #[must_use]
    pub fn channel() -> (Arc<Self>, mpsc::UnboundedReceiver<PendingApproval>) {
        let (questions, pending) = mpsc::unbounded_channel();
        (Arc::new(Self { questions, always: Mutex::default() }), pending)
    }

    /// Allows later calls of a tool until the program ends. Returns the answer that allows the
    /// current call.
    pub fn always(&self, tool: &str) -> Answer {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned());
        Answer::Granted(Some(ALLOWED.to_owned()))
    }

    fn is_allowed(&self, tool: &str) -> bool {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }
}

impl Approve for Approvals {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            if question.call.as_ref().is_some_and(|call| self.is_allowed(&call.name)) {
                return Answer::Granted(Some(ALLOWED.to_owned()));
            }
            let nobody = || Answer::Denied(Some("nobody is there to ask".to_owned()));
            let (answer, answered) = oneshot::channel();
            let pending = PendingApproval { question: question.clone(), answer };
            if self.questions.send(pending).is_err() {
                return nobody();
            }
            answered.await.unwrap_or_else(|_| nobody())
        })
    }
}
