//! The measurements, one per file.

mod append;
mod branching;
mod copy;
mod descent;
mod disk_space;
mod family;
mod files;
mod fork;
mod import;
mod interface;
mod large;
mod length;
mod load;
mod newest;
mod peers;
mod search;
mod server;
mod size;
mod spans;
mod start;
mod threads;
mod tier;
mod waking;
pub(crate) mod writer;
mod writers;

use std::fmt;

use clap::ValueEnum;

use crate::error::Result;
use crate::findings::Findings;
use crate::scene::Scene;

/// The measurements that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measurement {
    /// Forks of short and long sessions
    Length,
    /// Forks deep in a family and beside many siblings
    Family,
    /// The same work by other libraries
    Peers,
    /// Appends against writes to a plain file
    Append,
    /// Threads of one process that append at the same time
    Threads,
    /// Processes that append at the same time
    Writers,
    /// Followers of the feed
    Waking,
    /// Sessions read whole
    Load,
    /// Histories in many pieces
    Spans,
    /// The last events, and any event
    DiskSpace,
    /// The space that a session takes
    Size,
    /// The memory for a session of 1 GB
    Large,
    /// Starts of the program on a store of many sessions
    Start,
    /// First frames and scrolling of the terminal interface
    Interface,
    /// The search index: reading, answering, and beside an import
    Search,
    /// Imports of small and large session files
    Import,
    /// The shared store on PostgreSQL
    Tier,
    /// The server under load
    Server,
    /// Snapshots of files, beside git
    Files,
}

impl Measurement {
    /// All measurements, in the order of the results in `docs/benchmarks.md`.
    pub(crate) const ALL: [Self; 19] = [
        Self::Length,
        Self::Family,
        Self::Peers,
        Self::Append,
        Self::Threads,
        Self::Writers,
        Self::Waking,
        Self::Load,
        Self::Spans,
        Self::DiskSpace,
        Self::Size,
        Self::Large,
        Self::Start,
        Self::Interface,
        Self::Search,
        Self::Import,
        Self::Tier,
        Self::Server,
        Self::Files,
    ];

    pub(crate) fn take(self, scene: &Scene) -> Result<Findings> {
        match self {
            Self::Length => length::measure(scene).map(Into::into),
            Self::Family => family::measure(scene).map(Into::into),
            Self::Peers => peers::measure(scene),
            Self::Append => append::measure(scene).map(Into::into),
            Self::Threads => threads::measure(scene),
            Self::Writers => writers::measure(scene),
            Self::Waking => waking::measure(scene).map(Into::into),
            Self::Load => load::measure(scene),
            Self::Spans => spans::measure(scene),
            Self::DiskSpace => disk_space::measure(scene).map(Into::into),
            Self::Size => size::measure(scene).map(Into::into),
            Self::Large => large::measure(scene).map(Into::into),
            Self::Start => start::measure(scene).map(Into::into),
            Self::Interface => interface::measure(scene).map(Into::into),
            Self::Search => search::measure(scene).map(Into::into),
            Self::Import => import::measure(scene).map(Into::into),
            Self::Tier => tier::measure(scene),
            Self::Server => server::measure(scene),
            Self::Files => files::measure(scene).map(Into::into),
        }
    }

    /// Returns the heading of the measurement's results in `docs/benchmarks.md`.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Length => "forks of short and long sessions",
            Self::Family => "forks in deep and wide families",
            Self::Peers => "the same work by other libraries",
            Self::Append => "durable appends",
            Self::Threads => "threads at once",
            Self::Writers => "processes at once",
            Self::Waking => "followers of the feed",
            Self::Load => "sessions read whole",
            Self::Spans => "histories in many pieces",
            Self::DiskSpace => "the last events, and any event",
            Self::Size => "space",
            Self::Large => "a session of 1 GB",
            Self::Start => "program starts and lists",
            Self::Interface => "the terminal interface",
            Self::Search => "search",
            Self::Import => "imports",
            Self::Tier => "the shared store on PostgreSQL",
            Self::Server => "the server under load",
            Self::Files => "conversation and files",
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Sizes;

    /// Runs every measurement that starts no second program. All must produce valid figures.
    #[test]
    fn every_measurement_within_one_process_runs() {
        let dir = tempfile::tempdir().unwrap();
        let scene = Scene::below(dir.path(), Sizes::QUICK).unwrap();
        for measurement in [
            Measurement::Length,
            Measurement::Family,
            Measurement::Append,
            Measurement::Threads,
            Measurement::Waking,
            Measurement::Load,
            Measurement::Spans,
            Measurement::DiskSpace,
            Measurement::Size,
            Measurement::Interface,
            Measurement::Files,
        ] {
            let Findings { figures, charts } = measurement.take(&scene).unwrap();
            assert!(charts.iter().all(|chart| chart.svg().is_ok()));
            let unsound = figures.iter().find(|it| !(it.value.is_finite() && it.value > 0.0));
            assert_eq!((unsound, figures.is_empty()), (None, false), "{measurement}");
        }
    }
}
