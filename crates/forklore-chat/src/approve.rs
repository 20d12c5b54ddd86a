//! Asking the person at the terminal whether a tool may be called.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use forklore_agent::approve::{Answer, Approve, Question};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

/// A question, and where its answer goes.
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// Hands questions to whoever has the terminal.
pub(crate) struct AtTerminal {
    questions: mpsc::UnboundedSender<Asked>,
    /// Tools that may be called until the program ends.
    always: Arc<Mutex<HashSet<String>>>,
}

impl AtTerminal {
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<Asked>) {
        let (questions, asked) = mpsc::unbounded_channel();
        (Arc::new(Self { questions, always: Arc::default() }), asked)
    }

    /// From now on a tool may be called unasked.
    pub(crate) fn allow(&self, tool: &str) {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned());
    }

    fn is_allowed(&self, tool: &str) -> bool {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }
}

/// What a person says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// Yes, and without asking until the program ends.
    Always,
}

impl Reply {
    /// What a word means; anything but these was meant for something else.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "n" | "no" => Some(Self::No),
            "a" | "always" => Some(Self::Always),
            _ => None,
        }
    }
}

impl Approve for AtTerminal {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            if question.call.as_ref().is_some_and(|call| self.is_allowed(&call.name)) {
                return Answer::Granted(Some("allowed until the program ends".to_owned()));
            }
            let (answer, answered) = oneshot::channel();
            let nobody = || Answer::Denied(Some("nobody is there to ask".to_owned()));
            if self.questions.send(Asked { question: question.clone(), answer }).is_err() {
                return nobody();
            }
            answered.await.unwrap_or_else(|_| nobody())
        })
    }
}
