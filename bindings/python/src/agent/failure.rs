//! Errors of the kernel as Python exceptions.

use forklore_agent::Error;
use forklore_bindings::Failure;
use pyo3::prelude::*;

use crate::failure::raised;

/// Returns the exception for an error of the kernel. If a Python model raised an exception, that is
/// the cause of the returned one.
pub(super) fn exception(error: Error) -> PyErr {
    let cause = cause(&error);
    let raised = raised(failure(error));
    if let Some(cause) = cause {
        Python::attach(|py| raised.set_cause(py, Some(cause)));
    }
    raised
}

/// Returns an error of the kernel as a failure of a call.
fn failure(error: Error) -> Failure {
    let next = match &error {
        Error::Engine(_) => None,
        Error::Leased { .. } => Some("fork the session, or wait for its turn to end"),
        Error::Running(_) => Some("interrupt the turn, or fork the session"),
        Error::Ended(_) => Some("open the session again"),
        Error::NotReady(_) => Some("give the model what it needs, such as its key"),
        Error::NothingToResume(_) => Some("give the session a prompt"),
        _ => None,
    };
    match error {
        Error::Engine(error) => error.into(),
        error => Failure {
            kind: error.kind(),
            message: error.to_string(),
            details: error.details(),
            next_actions: next.map(str::to_owned).into_iter().collect(),
        },
    }
}

/// Returns the exception that a Python model raised, if one caused the error.
fn cause(error: &Error) -> Option<PyErr> {
    let (Error::Model { source, .. } | Error::NotReady(source)) = error else { return None };
    let raised = source.source.as_ref()?.downcast_ref::<PyErr>()?;
    Some(Python::attach(|py| raised.clone_ref(py)))
}
