//! The events that are appended, and the check that all of them were read.

use forklore::prelude::*;

use crate::error::{Error, Result};
use crate::scene::message;

/// Returns the batch of one message of 1 KB.
pub(super) fn one() -> Result<Batch> {
    Ok(Batch::from(vec![message(0)?]))
}

/// Checks that as many events were read as there are.
pub(super) fn is(found: usize, wanted: usize) -> Result<()> {
    if found == wanted { Ok(()) } else { Err(Error::Wrong(format!("{found}, not {wanted}"))) }
}
