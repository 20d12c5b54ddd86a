//! Tells users the address of a model that did not answer.

use forklore_agent::Error as AgentError;
use forklore_agent::model::ModelErrorKind;

use crate::{Error, Host};

impl Host {
    /// Returns a message for users with the address of the model `name`, if `error` says that the
    /// model's server could not be reached or did not answer in time. Returns `None` for any other
    /// error. A `name` of `None` is the default model. The message is for the terminal only: an
    /// address is private, so neither the log nor a trace contains it.
    #[must_use]
    pub fn unreachable(&self, name: Option<&str>, error: &Error) -> Option<String> {
        let Error::Agent(AgentError::Model { source, .. } | AgentError::NotReady(source)) = error
        else {
            return None;
        };
        if !matches!(source.kind, ModelErrorKind::Unreachable | ModelErrorKind::TimedOut) {
            return None;
        }
        let (name, model) = self.configured().model(name).ok()?;
        let (at, path) = (model.address(), self.configured().path.display());
        // Such an address may contain a key.
        if at.contains(['@', '?', '#']) {
            return Some(format!("nothing answers at the address of [models.{name}] in {path}"));
        }
        Some(format!("nothing answers at {at}, the address of [models.{name}] in {path}"))
    }
}
