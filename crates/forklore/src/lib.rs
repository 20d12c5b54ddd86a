//! forklore
