//! Stores under kills, crowds and limits: what was acknowledged is there, and nothing is half
//! there.

mod bytes;
mod crowds;
mod faults;
mod golden;
mod images;
mod kills;
mod limits;
mod naming;
mod salvage;
mod world;
