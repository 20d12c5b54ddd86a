//! forklore-model
