//! Tests of stores under kills, concurrency and exhausted resources. Acknowledged data is never
//! lost, and no change is ever incomplete.

mod backups;
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
