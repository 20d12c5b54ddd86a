//! The results of the tests: the outcome for each agent and kind of sessions, and each fork in
//! which the model did not receive the expected messages.

use std::fmt;

use crate::case::Kind;

/// One combination to test: an agent, the agent that wrote the sessions, and the kind of sessions.
#[derive(Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) agent: &'static str,
    pub(crate) from: &'static str,
    pub(crate) kind: Kind,
}

/// The outcome of testing one agent on one group of sessions, with the numbers of sessions and
/// forks.
pub(crate) struct Outcome {
    pub(crate) tried: Tried,
    pub(crate) sessions: usize,
    pub(crate) forks: usize,
    pub(crate) different: usize,
    /// The number of forks that were not tested. Such a fork contains no messages except those that
    /// the agent generates itself.
    pub(crate) left_out: usize,
    pub(crate) seconds: f64,
}

/// A fork in which the model did not receive the expected messages.
pub(crate) struct Different {
    pub(crate) case: String,
    pub(crate) why: String,
}

impl fmt::Display for Different {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.case, self.why)
    }
}
