//! Writes the types and the verbs of the contract in Python and TypeScript.
//!
//! The source is the contract's JSON Schema, `docs/reference/forklore.schema.json`. A test compares the
//! written files with those in `bindings`, and replaces them if `FORKLORE_WRITE_REFERENCE=1` is set.
//!
//! - `schema` reads the definitions as [`schema::Type`]s.
//! - `verbs` lists the verbs that a store can execute, with their parameters and answers.
//! - `python` and `typescript` write both.

pub mod python;
pub mod schema;
pub mod typescript;
pub mod verbs;
