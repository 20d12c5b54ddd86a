//! Extracts the message of a caught panic.

use std::any::Any;

/// Returns the message of a panic, or `no words` if its payload is not a string.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}
