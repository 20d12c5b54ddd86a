//! Finds one of a session's attachments by its name, or by its ref (`sha256:` and a hash).

use std::collections::BTreeSet;

use forklore::core::{AttachmentId, ErrorKind, SessionId};
use forklore::engine::NamedAttachment;
use serde_json::json;

use crate::failure::{Failure, Result};

/// How many hex digits of an attachment's ref are shown.
const SHOWN: usize = 12;
/// The minimum number of hex digits in an abbreviated ref.
const LEAST: usize = 4;
/// The maximum number of matching attachments that an error lists.
const CANDIDATES: usize = 10;

/// Returns the short form of an attachment's ref for users: `sha256:` and the first hex digits.
pub(super) fn short(id: &AttachmentId) -> String {
    id.to_string().chars().take("sha256:".len() + SHOWN).collect()
}

/// Finds the attachment whose name equals `reference`. If no attachment has this name, finds the
/// attachment whose ref begins with `reference`: at least [`LEAST`] hex digits, with or without
/// `sha256:` before them. Exactly one attachment must match.
pub(super) fn find(
    attachments: &[NamedAttachment],
    reference: &str,
    session: &SessionId,
) -> Result<AttachmentId> {
    let digits = reference.strip_prefix("sha256:").unwrap_or(reference).to_ascii_lowercase();
    let by_name = |one: &&NamedAttachment| one.name.as_deref() == Some(reference);
    let by_ref = |one: &&NamedAttachment| one.id.hex().starts_with(&digits);
    let ids =
        |found: Vec<&NamedAttachment>| found.iter().map(|one| one.id).collect::<BTreeSet<_>>();
    let mut found = ids(attachments.iter().filter(by_name).collect());
    if found.is_empty() && digits.len() >= LEAST {
        found = ids(attachments.iter().filter(by_ref).collect());
    }
    let list = format!("forklore attach {session}");
    match (found.pop_first(), found.is_empty()) {
        (Some(id), true) => Ok(id),
        (None, _) => {
            let message = "nothing of that name or ref is attached to the session";
            Err(Failure::refused(ErrorKind::NotFound, message).or_try(list))
        }
        (Some(first), false) => {
            let count = found.len() + 1;
            let candidates: Vec<_> = [first].into_iter().chain(found).take(CANDIDATES).collect();
            Err(Failure::Refused {
                kind: ErrorKind::InvalidArgs,
                message: format!("{count} attachments fit; name one by its ref"),
                details: json!({"count": count, "candidates": candidates}),
                next: vec![list],
            })
        }
    }
}
