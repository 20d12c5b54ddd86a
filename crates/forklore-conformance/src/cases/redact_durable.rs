//! Cases: a redaction is durable.

pub(super) use super::redact::it_outlives_a_reopening;
