//! Tests of stores that run out of a resource. They lose nothing, report the cause, and continue
//! once the resource is available again.

mod clock;
mod descriptors;
mod read_only;
mod space;
