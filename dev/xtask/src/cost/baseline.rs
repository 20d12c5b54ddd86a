//! The counts in the repository, and the toolchain with which they were made.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, output, program, root};

/// The target for which instructions are counted. On other targets, `cargo xtask cost` counts
/// nothing.
pub(super) const MACHINE: &str = "x86_64-unknown-linux-gnu";

/// The compiler and the properties of the machine that affect an instruction count, in addition to
/// the counted code. The processor's AVX2 support is included, because the C library copies memory
/// in another way without it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Toolchain {
    pub(super) compiler: String,
    pub(super) machine: String,
    pub(super) libc: String,
    pub(super) avx2: bool,
}

/// Instruction counts. The keys are the names of the measured operations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(BTreeMap<String, u64>);

/// The instruction counts in the repository, with which new counts are compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Baseline {
    pub(super) toolchain: Toolchain,
    pub(super) counts: Counts,
}

impl Toolchain {
    /// Returns the toolchain that is installed now, with which the next build is made.
    pub(super) fn now() -> Result<Self, Failure> {
        let name = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let text = output(program(name).arg("-vV"))?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let field = |name| field(name).unwrap_or("unknown").to_owned();
        let libc = output(program("ldd").arg("--version")).unwrap_or_default();
        let libc = libc.lines().next().and_then(|line| line.rsplit(' ').next());
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Ok(Self {
            compiler: field("release: "),
            machine: field("host: "),
            libc: libc.unwrap_or("unknown").to_owned(),
            avx2: processor.split_ascii_whitespace().any(|word| word == "avx2"),
        })
    }

    /// Checks whether this toolchain builds for the only target for which instructions are counted.
    pub(super) fn is_counted(&self) -> bool {
        self.machine == MACHINE
    }
}

impl std::fmt::Display for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let avx2 = if self.avx2 { "with" } else { "without" };
        write!(f, "rustc {}, libc {}, {avx2} AVX2", self.compiler, self.libc)
    }
}

impl Counts {
    /// Returns the instruction count of the operation `name`, or 0 if there is no such operation.
    pub(super) fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

impl FromIterator<(String, u64)> for Counts {
    fn from_iter<T: IntoIterator<Item = (String, u64)>>(counts: T) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl Baseline {
    /// Reads the baseline, the earlier instruction counts, from the repository.
    pub(super) fn read() -> Result<Self, Failure> {
        let path = path();
        let text = fs::read_to_string(&path)
            .map_err(|source| Failure::Folder { path: path.clone(), source })?;
        Ok(Self::parse(&text))
    }

    /// Prints these instruction counts, and writes them to the repository as the new baseline.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let path = path();
        eprintln!("\n{self}");
        fs::write(&path, self.to_string()).map_err(|source| Failure::Folder { path, source })
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let fields: BTreeMap<_, _> = lines.filter_map(|line| line.split_once(' ')).collect();
        let field = |name| fields.get(name).copied().unwrap_or("unknown").to_owned();
        let numbers = fields.iter().filter_map(|(name, value)| Some((*name, value.parse().ok()?)));
        Self {
            toolchain: Toolchain {
                compiler: field("compiler"),
                machine: field("machine"),
                libc: field("libc"),
                avx2: field("avx2") == "true",
            },
            counts: numbers.map(|(name, count)| (name.to_owned(), count)).collect(),
        }
    }
}

impl std::fmt::Display for Baseline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "# Instructions counted by `cargo xtask cost --write`; see docs/benchmarks.md."
        )?;
        let Toolchain { compiler, machine, libc, avx2 } = &self.toolchain;
        writeln!(f, "compiler {compiler}\nmachine {machine}\nlibc {libc}\navx2 {avx2}")?;
        self.counts.0.iter().try_for_each(|(name, count)| writeln!(f, "{name} {count}"))
    }
}

fn path() -> PathBuf {
    root().join("dev/cost/baseline.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let counts = [("load".to_owned(), 12), ("open".to_owned(), 3_000_000_000_000)];
        let toolchain = Toolchain {
            compiler: "1.95.0".into(),
            machine: MACHINE.into(),
            libc: "2.36".into(),
            avx2: true,
        };
        let baseline = Baseline { toolchain, counts: counts.into_iter().collect() };
        assert_eq!(Baseline::parse(&baseline.to_string()), baseline);
        assert_eq!((baseline.counts.of("load"), baseline.counts.of("fork")), (12, 0));
    }
}
