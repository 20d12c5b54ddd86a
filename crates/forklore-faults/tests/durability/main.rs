//! Stores under kills, crowds and limits: what was acknowledged is there, and nothing is half
//! there.

mod faults;
mod crowds;
mod kills;
mod world;
