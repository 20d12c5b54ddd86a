//! Failures as errors of JavaScript.

use forklore_bindings::Failure;
use napi::{Error, Status};

/// Returns the error for a failure. Its message is the contract's error object as JSON, from which the
/// package makes an error of the failure's class.
pub(crate) fn thrown(failure: Failure) -> Error {
    let object = serde_json::to_string(&failure.object());
    Error::new(Status::GenericFailure, object.unwrap_or_else(|_| failure.to_string()))
}
