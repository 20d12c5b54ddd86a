//! Limits a verb to some paths.

use bstr::{BStr, BString};

/// Returns whether a list of paths selects a path: it is one of them, or is below one.
pub(crate) fn selects(paths: &[BString], path: &BStr) -> bool {
    paths.is_empty()
        || paths.iter().any(|selected| {
            let rest = path.strip_prefix(selected.as_slice());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        })
}
