//! The machine, the commit and the time of the run. Without them the figures mean little.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;

use jiff::Timestamp;

/// A description of the machine and of its load before the first measurement.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) cores: usize,
    pub(crate) processor: String,
    pub(crate) file_system: String,
    pub(crate) load: String,
}

impl Machine {
    /// Describes the machine as it is now, with the file system that contains `dir`.
    pub(crate) fn now(dir: &Path) -> Self {
        Self {
            date: Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            commit: commit().unwrap_or_else(|| "unknown".into()),
            cores: available_parallelism().map_or(1, usize::from),
            processor: processor().unwrap_or_else(|| "unknown".into()),
            file_system: file_system(dir).unwrap_or_else(|| "unknown".into()),
            load: load(),
        }
    }
}

/// Returns the load averages over 1, 5 and 15 minutes, or `unknown` if the system reports none.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let numbers: Vec<_> = text.split(' ').take(3).collect();
    if numbers.len() == 3 { numbers.join(" ") } else { "unknown".into() }
}

fn commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short", "HEAD"]).output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| name.trim().to_owned())
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns the type of the file system that contains `dir`. If several mounts contain `dir`, the
/// one with the longest path counts.
fn file_system(dir: &Path) -> Option<String> {
    let dir = dir.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let fields = mounts.lines().map(|line| line.split(' ').skip(1));
    let fitting = fields.filter_map(|mut fields| {
        let (at, kind) = (Path::new(fields.next()?), fields.next()?);
        dir.starts_with(at).then(|| (at.components().count(), kind.to_owned()))
    });
    Some(fitting.max_by_key(|(depth, _)| *depth)?.1)
}
