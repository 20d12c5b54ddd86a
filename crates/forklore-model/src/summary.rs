//! `deterministic_operational_summary_v2`: what happened, told without a model (SPEC 8).
