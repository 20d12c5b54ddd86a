//! Stores under kills, crowds and limits: what was acknowledged is there, and nothing is half
//! there.

mod bytes;
mod faults;
mod golden;
mod images;
mod crowds;
mod kills;
mod limits;
mod salvage;
mod world;
