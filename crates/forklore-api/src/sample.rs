//! Types of `verify --sample`, which checks some sessions only.

use forklore_core::report::Verification;
use serde::{Deserialize, Serialize};

/// The request of `verify --sample`: checks sessions that a seed selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerifySample {
    /// How many sessions to check.
    pub size: SampleSize,
    /// The seed of the selection. The same seed selects the same sessions, as long as there are no
    /// other sessions. `null` chooses a random seed.
    pub seed: Option<u64>,
}

/// How many sessions a sample has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SampleSize {
    /// At most this many sessions.
    Sessions(u64),
    /// This share of all sessions, in percent, rounded up.
    Percent(u8),
}

/// The answer of `verify --sample`: what was checked, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifiedSample {
    /// What the check of the sample found. An event that several sessions of the sample share
    /// counts once for each of them.
    #[serde(flatten)]
    pub verification: Verification,
    /// The number of sessions from which the sample was selected. Deleted sessions do not count.
    pub of: u64,
    /// The seed with which the same sample can be checked again.
    pub seed: u64,
}
