//! Finds the time zone of the machine. Reads no file that may have no end.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::tz::TimeZone;

/// The maximum size, in bytes, of the file of a time zone. The files of all zones are much smaller.
const MOST: u64 = 1 << 20;

/// The environment variable `TZ` names something that is no file of a time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TZ names no file of a time zone, so times are in UTC: {}", Path::new(named).display())]
pub struct NoZoneFile {
    named: OsString,
}

/// Returns the time zone of the machine, which the environment variable `TZ` can override. If that
/// zone is unknown, returns UTC.
///
/// # Errors
/// [`NoZoneFile`] if `TZ` names a device, a pipe or a very long file. Reading it might never end.
pub fn system_zone() -> Result<TimeZone, NoZoneFile> {
    let named = std::env::var_os("TZ").unwrap_or_default();
    if is_unbounded(&named) {
        return Err(NoZoneFile { named });
    }
    Ok(TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// Checks whether the value of `TZ` is the path of something that may have no end. The name of a
/// zone, and a rule such as `CET-1CEST`, are no paths of anything.
fn is_unbounded(named: &OsStr) -> bool {
    let path = named.as_bytes().strip_prefix(b":").unwrap_or(named.as_bytes());
    let found = Path::new(OsStr::from_bytes(path)).metadata();
    let is_bounded =
        |found: std::fs::Metadata| found.is_dir() || (found.is_file() && found.len() <= MOST);
    found.is_ok_and(|found| !is_bounded(found))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn only_short_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("long");
        File::create(&long).unwrap().set_len(MOST + 1).unwrap();
        let short = dir.path().join("short");
        File::create(&short).unwrap().set_len(MOST).unwrap();
        for unbounded in [Path::new("/dev/zero"), Path::new(":/dev/zero"), &long] {
            assert!(is_unbounded(unbounded.as_os_str()), "{unbounded:?}");
        }
        let bounded = ["", "UTC", "Europe/Berlin", ":Asia/Tokyo", "CET-1CEST", "/nowhere/zone"];
        for bounded in bounded.map(Path::new).into_iter().chain([&*short, dir.path()]) {
            assert!(!is_unbounded(bounded.as_os_str()), "{bounded:?}");
        }
        let shown = NoZoneFile { named: "/dev/zero".into() }.to_string();
        assert_eq!(shown, "TZ names no file of a time zone, so times are in UTC: /dev/zero");
    }
}
