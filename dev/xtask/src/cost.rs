//! `cargo xtask cost`: counts the instructions of some verbs and compares them with counts in the
//! repository.
//!
//! Time depends on the machine and its other load. The instruction count of one build on fixed
//! input does not. Valgrind counts the instructions on an emulated processor. That processor
//! supports AVX2 if the machine does, and nothing newer. Code that checks for processor features
//! therefore always takes the same path.

mod baseline;
mod callgrind;

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, cargo, run};
use crate::tools::target;
use baseline::{Baseline, Counts, Toolchain};

/// The operations whose instructions are counted. Each is the name of a function of
/// `forklore-cost`, without the prefix `counted_`.
const COUNTED: [&str; 5] = ["open", "load", "replay", "fork", "append"];

/// The accepted deviation of an instruction count from the baseline, in percent.
const BAND: u64 = 5;

/// The accepted deviation of an instruction count, in percent, if the toolchain differs from the
/// baseline's. With another C library, for example, memory may be copied in another way.
const BAND_ELSEWHERE: u64 = 25;

/// Counts the instructions of the measured operations and compares the counts with the baseline.
/// With `--write`, stores the counts as the new baseline.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let write = match args {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err(Failure::Usage { hint: "cargo xtask cost [--write]" }),
    };
    let toolchain = Toolchain::now()?;
    if !toolchain.is_counted() {
        eprintln!("Instructions are counted on {} only.", baseline::MACHINE);
        return Ok(());
    }
    let counts = count()?;
    if write {
        return Baseline { toolchain, counts }.write();
    }
    compare(&Baseline::read()?, &toolchain, &counts)
}

/// Builds `forklore-cost` and counts the instructions of its operations. The profile `release`
/// optimises what reads and writes sessions, and the compiler takes less time than for a `dist`.
fn count() -> Result<Counts, Failure> {
    run(cargo().args(["build", "--release", "-p", "forklore-cost"]))?;
    let name = format!("forklore-cost{}", env::consts::EXE_SUFFIX);
    callgrind::count(&target().join("release").join(name), &fresh_folder()?, &COUNTED)
}

/// Creates an empty directory for the measured store and the output of Valgrind.
fn fresh_folder() -> Result<PathBuf, Failure> {
    let folder = target().join("cost").join("run");
    let made = fs::remove_dir_all(&folder).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    made.and_then(|()| fs::create_dir_all(&folder))
        .map_err(|source| Failure::Folder { path: folder.clone(), source })?;
    Ok(folder)
}

fn compare(baseline: &Baseline, toolchain: &Toolchain, counts: &Counts) -> Result<(), Failure> {
    let same = baseline.toolchain == *toolchain;
    let band = if same { BAND } else { BAND_ELSEWHERE };
    if !same {
        eprintln!(
            "The baseline was counted with {}, this with {}: {band} % are let pass, not {BAND} %.",
            baseline.toolchain, toolchain
        );
    }
    let mut table = String::from("             instructions       baseline   change\n");
    let mut all_within = true;
    for name in COUNTED {
        let (now, before) = (counts.of(name), baseline.counts.of(name));
        let is_within = within(now, before, band);
        all_within &= is_within;
        let change = change(now, before);
        let verdict = if is_within { "" } else { "  out of bounds" };
        table.push_str(&format!("{name:>10} {now:>14} {before:>14} {change:>+7.1} %{verdict}\n"));
    }
    eprintln!("\n{table}");
    if all_within { Ok(()) } else { Err(Failure::Cost { band }) }
}

/// Checks whether the instruction count `now` deviates from the baseline `before` by at most `band`
/// percent, above or below. A large improvement must be recorded too, so that a later loss of the
/// improvement is noticed.
fn within(now: u64, before: u64, band: u64) -> bool {
    before > 0 && now.abs_diff(before) * 100 <= before * band
}

fn change(now: u64, before: u64) -> f64 {
    100.0 * (now as f64 / before.max(1) as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(load: u64) -> Counts {
        COUNTED
            .iter()
            .map(|name| ((*name).to_owned(), if *name == "load" { load } else { 7 }))
            .collect()
    }

    #[test]
    fn a_tenth_more_or_less_fails() {
        let toolchain = |compiler: &str| Toolchain {
            compiler: compiler.into(),
            machine: "m".into(),
            libc: "2".into(),
            avx2: true,
        };
        let baseline = Baseline { toolchain: toolchain("1.0"), counts: counts(1_000_000) };
        let check =
            |load, compiler: &str| compare(&baseline, &toolchain(compiler), &counts(load)).is_ok();
        assert!(check(1_000_000, "1.0") && check(1_050_000, "1.0") && check(950_000, "1.0"));
        assert!(!check(1_100_000, "1.0") && !check(900_000, "1.0") && !check(1_050_001, "1.0"));
        assert!(check(1_250_000, "2.0") && !check(1_250_001, "2.0") && !check(0, "2.0"));
    }

    #[test]
    fn what_the_baseline_lacks_is_out_of_bounds() {
        assert!(!within(0, 0, BAND) && !within(5, 0, BAND));
    }
}
