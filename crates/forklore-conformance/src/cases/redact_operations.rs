//! Cases: a redaction is recorded.

pub(super) use super::redact::it_is_recorded_and_names_are_forgotten;
