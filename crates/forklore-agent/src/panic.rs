//! Catches panics and extracts their messages.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::{Error, Result};

/// Runs the work of a sub-agent. Converts a panic to an error, so that the panic ends only this
/// work.
pub(crate) async fn catch_panic<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.unwrap_or_else(|panic| Err(Error::Crashed(panic_text(&*panic))))
}

/// Returns the message of a panic, or `no words` if its payload is not a string.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}
