//! forklore-formats
