//! forklore-guard
