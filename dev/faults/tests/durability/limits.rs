//! Stores that run out of something lose nothing, say so, and go on once there is enough again.

mod clock;
mod descriptors;
mod read_only;
mod room;
