//! Tests of stores that run out of a resource: they lose nothing, report it, and continue once
//! there is enough again.

mod clock;
mod descriptors;
mod read_only;
mod space;
