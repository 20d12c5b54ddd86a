//! forklore-engine
