//! forklore-sqlite
