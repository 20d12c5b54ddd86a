//! Tests of the interface: what it shows at every size, and how it reacts to keys, to the mouse, to
//! answers of the store and to other programs. The terminal is a buffer; all else is real.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod changes;
mod hostile;
mod lists;
mod pictures;
mod reading;
mod rewound;
mod scale;
mod sizes;
mod stage;
