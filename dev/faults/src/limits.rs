//! Work on stores that run out of a resource: disk space, file size, file descriptors, or
//! permissions.

mod descriptors;
mod filling;
mod reading;

pub use descriptors::{descriptors, exhausted, limit_descriptors};
pub use filling::{fill_disk, fill_files};
pub use reading::{WRITES, read_only, shown};

use crate::caller::Caller;
use crate::history::{Answer, Call};

/// Makes a call on the store under test that must succeed. Panics if the store refuses the call.
fn must(caller: &mut Caller<'_>, call: Call) {
    let what = format!("{call:?}");
    if let Answer::Refused { message, .. } = caller.call(call) {
        panic!("{what} is refused: {message}");
    }
}
