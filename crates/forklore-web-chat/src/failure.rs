//! What a failed turn says to people, with what they can do next.

use forklore_core::ErrorKind;
use forklore_host::Error;

use crate::refused::Refused;

/// What to do about a turn that could not begin or did not end well.
pub(crate) fn refused(error: &Error) -> Refused {
    let refused =
        Refused { details: error.details(), ..Refused::new(error.kind(), error.to_string()) };
    if error.is_in_use() {
        return refused
            .or_try("wait for the end of the turn that another program runs here")
            .or_try("fork the session, and go on in the fork");
    }
    match error.kind() {
        ErrorKind::Busy => refused.or_try("interrupt the turn, or wait for its end"),
        ErrorKind::NotFound | ErrorKind::InvalidArgs | ErrorKind::Corrupt => refused,
        ErrorKind::BudgetExceeded => refused.or_try("raise the budget in the configuration"),
        _ => refused.or_try("go on with the turn, or choose another model"),
    }
}
