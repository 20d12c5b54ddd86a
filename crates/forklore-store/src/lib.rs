//! forklore-store
