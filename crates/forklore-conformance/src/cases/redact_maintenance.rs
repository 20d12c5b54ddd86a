//! Cases: the space of redacted payloads is given back.

pub(super) use super::redact::gc_gives_back_what_was_redacted;
