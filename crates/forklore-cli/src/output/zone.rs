//! The time zone in which times are shown.

use forklore_host::{NoZoneFile, system_zone};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The time zone in which times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// The time zone of the machine, which the environment variable `TZ` can override.
    Local,
    /// UTC (`--utc`).
    Utc,
}

impl Zone {
    /// Returns the time in this zone. In `Local`, this is UTC if the machine's zone is unknown.
    pub(crate) fn at(self, time: Timestamp) -> Zoned {
        time.to_zoned(self.time_zone())
    }

    /// Returns the instant at which clocks in this zone show `time`. `None` if it is out of range.
    pub(crate) fn instant(self, time: DateTime) -> Option<Timestamp> {
        time.to_zoned(self.time_zone()).ok().map(|time| time.timestamp())
    }

    /// Formats a time with the precision of a second, with the name of the zone.
    pub(crate) fn time(self, at: Timestamp) -> String {
        self.at(at).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// Formats a time with the precision of a second, but without its year, for lists.
    pub(crate) fn minute(self, at: Timestamp) -> String {
        self.at(at).strftime("%m-%d %H:%M:%S").to_string()
    }

    /// Returns why times are in UTC although the zone of the machine was to be used. `None` if they
    /// are not, or if that zone is unknown.
    pub(crate) fn problem(self) -> Option<NoZoneFile> {
        match self {
            Self::Local => system_zone().err(),
            Self::Utc => None,
        }
    }

    /// Returns the zone itself. If the zone of the machine is unknown, this is UTC.
    pub(crate) fn time_zone(self) -> TimeZone {
        match self {
            Self::Local => system_zone().unwrap_or(TimeZone::UTC),
            Self::Utc => TimeZone::UTC,
        }
    }
}
