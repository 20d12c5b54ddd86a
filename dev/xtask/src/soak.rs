//! `cargo xtask soak`: runs the durability tests and the fuzz targets for a given time.
//!
//! Each round tries more cases, until the number for a release is reached or the time is over. Then
//! random histories are compared with models, snapshots of 10,000 generated trees are restored, the
//! pages of a large store are opened, every fuzz target runs for a minute, each published crate is
//! compiled alone, the packages for Python and TypeScript are tested, and the packages of a release
//! are made and installed. At the end, a table shows what ran and how many cases there were.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::command::{Failure, command_line, program, root, run};
use crate::tools::{FUZZ, HACK, NEXTEST, target};
use crate::{browser, patroni, postgres};

/// The number of test cases required for a release, as a multiple of the number in a normal test
/// run. For example, 300 kills become 10,000.
const RELEASE: u64 = 34;
/// The duration for which each fuzz target runs.
const FUZZED: Duration = Duration::from_secs(60);
const MINUTES: u64 = 30;
/// How often the primary of a PostgreSQL cluster is killed.
const FAILOVERS: u32 = 20;
/// The random tests, as a filter of nextest: those of whole crates, and others by their names.
const RANDOM: &str = "package(forklore-api) | package(forklore-core) | package(forklore-sanitize) \
    | package(forklore-store) | test(/histories|racing_pairs|random|property|leaf_is/) \
    | test(/a_copy_reads_as_its_file|behind_its_ancestors/)";
/// The number of random histories of each test that compares a store with a model.
const HISTORIES: u32 = 256;
/// The number of cases of each other random test.
const CASES: u32 = 500;
/// The number of generated trees of which snapshots are taken and restored.
const TREES: u32 = 10_000;

/// A row of the table that the long durability run prints at the end.
struct Row {
    name: String,
    verdict: &'static str,
    took: Duration,
    figures: Vec<String>,
}

/// Runs rounds of the durability tests, and then every fuzz target for a fixed time. Together they
/// take about as long as the arguments allow.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let time = Duration::from_secs(60 * minutes(args)?);
    let start = Instant::now();
    let targets = fuzz_targets()?;
    let for_fuzzing = FUZZED * u32::try_from(targets.len()).unwrap_or(u32::MAX);
    build()?;
    let mut rows = vec![failovers()];
    rows.push(tests(time.saturating_sub(start.elapsed() + for_fuzzing)));
    rows.push(histories());
    rows.push(trees());
    rows.push(pages());
    rows.extend(targets.iter().map(|target| fuzz(target)));
    rows.push(features());
    rows.push(bindings());
    rows.push(packages());
    tell(&rows, start.elapsed());
    let failed: Vec<_> = rows.iter().filter(|row| row.verdict != "ok").collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Checks { failed: vec!["soak"] }) }
}

fn minutes(args: &[String]) -> Result<u64, Failure> {
    let usage = || Failure::Usage { hint: "cargo xtask soak [--minutes N]" };
    match args {
        [] => Ok(MINUTES),
        [flag, number] if flag == "--minutes" => number.parse().map_err(|_| usage()),
        _ => Err(usage()),
    }
}

/// Returns the names of the fuzz targets, which are the names of their source files.
fn fuzz_targets() -> Result<Vec<String>, Failure> {
    let folder = root().join("fuzz").join("fuzz_targets");
    let failed = |source| Failure::Folder { path: folder.clone(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        found.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    found.sort();
    Ok(found)
}

/// Builds the durability tests and the fuzz targets. This happens before the available time is
/// divided between them, so that a slow build does not shorten the tests more than the fuzz
/// targets.
fn build() -> Result<(), Failure> {
    run(NEXTEST.command()?.args(["run", "--no-run", "-p", "forklore-faults"]))?;
    let with_files = ["-p", "forklore-snapshot", "-p", "forklore-workspace"];
    run(NEXTEST.command()?.args(["run", "--no-run"]).args(with_files))?;
    run(FUZZ.command()?.args(["build", "-s", "none", "--target-dir"]).arg(fuzz_folder()))
}

fn fuzz_folder() -> PathBuf {
    target().join("fuzz")
}

/// Runs rounds of all durability tests, as long as `time` suffices for another round. Also stops
/// when as many cases were tried as a release requires. Each round has its own seed. The first
/// round tries the cases of a normal test run; its duration determines the sizes of the later
/// rounds.
fn tests(time: Duration) -> Row {
    let start = Instant::now();
    let (mut tried, mut times, mut seed) = (0, 1, 1);
    let mut row =
        Row { name: "durability".into(), verdict: "ok", took: Duration::ZERO, figures: Vec::new() };
    loop {
        let round = Instant::now();
        match durability(times, seed) {
            Ok(figures) => row.figures.extend(figures),
            Err(figures) => {
                row.figures.extend(figures);
                row.verdict = "FAILED";
                break;
            }
        }
        tried += times;
        seed += 1;
        let one = round.elapsed().div_f64(times as f64);
        let left = time.saturating_sub(start.elapsed());
        let fits = (left.as_secs_f64() / one.as_secs_f64().max(1.0)) as u64;
        times = fits.min(RELEASE.saturating_sub(tried));
        if times == 0 {
            break;
        }
    }
    let wanted = if tried >= RELEASE { "" } else { ", fewer than a release wants" };
    row.figures.push(format!("tried {tried} times what a test run tries{wanted}"));
    row.took = start.elapsed();
    row
}

/// Runs one round of the durability tests, with `times` times as many cases as a normal test run.
/// Returns the output lines that show counts, such as the number of injected faults. If a test
/// fails, returns these lines as the error.
fn durability(times: u64, seed: u64) -> Result<Vec<String>, Vec<String>> {
    let command = NEXTEST.command().map(|mut command| {
        command
            .args(["run", "-p", "forklore-faults", "--test", "durability", "--profile", "soak"])
            .args(["--success-output", "immediate", "--status-level", "fail"])
            .env("FORKLORE_SOAK", times.to_string())
            .env("FORKLORE_SEED", seed.to_string());
        command
    });
    match command {
        Ok(mut command) => captured(&mut command),
        Err(failure) => Err(vec![failure.to_string()]),
    }
}

/// Kills the primary of a PostgreSQL cluster as often as a release requires, and lets Patroni hang.
fn failovers() -> Row {
    let start = Instant::now();
    let done = NEXTEST.command().and_then(|mut command| {
        postgres::offer(&mut command)?;
        patroni::offer(&mut command)?;
        command
            .args(["run", "-p", "forklore-postgres", "--test", "failover", "--profile", "soak"])
            .args([
                "--success-output",
                "immediate",
                "--status-level",
                "fail",
                "rounds::",
                "patroni::",
            ])
            .env("FORKLORE_FAILOVERS", FAILOVERS.to_string());
        Ok(command)
    });
    row("failover".into(), start, done)
}

/// Compares all stores and rules with models over random histories. Each run has its own seed.
fn histories() -> Row {
    let start = Instant::now();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let done = NEXTEST.command().and_then(|mut command| {
        postgres::offer(&mut command)?;
        command.args(["run", "--workspace", "--all-features", "--profile", "soak"]);
        command.args(["-E", RANDOM]);
        command.args(["--success-output", "immediate", "--status-level", "fail"]);
        command
            .env("FORKLORE_CASES", HISTORIES.to_string())
            .env("PROPTEST_CASES", CASES.to_string());
        command.env("FORKLORE_SEED", seed.to_string()).env("PROPTEST_RNG_SEED", seed.to_string());
        Ok(command)
    });
    row(format!("histories, seed {seed}"), start, done)
}

/// Takes and restores snapshots of as many generated trees as a release requires, and kills restores,
/// merges, and the making and removal of worktrees.
fn trees() -> Row {
    let start = Instant::now();
    let done = NEXTEST.command().map(|mut command| {
        command.args(["run", "-p", "forklore-snapshot", "-p", "forklore-workspace"]);
        command.args(["--profile", "soak", "property::", "kill"]);
        command.args(["--success-output", "immediate", "--status-level", "fail"]);
        command.env("FORKLORE_TREES", TREES.to_string()).env("FORKLORE_SOAK", RELEASE.to_string());
        command
    });
    row("trees".into(), start, done)
}

/// Opens the pages of a large store in Chromium: they are small and fast.
fn pages() -> Row {
    const ARGS: [&str; 5] = ["run", "-p", "forklore-cli", "--test", "cli"];
    let start = Instant::now();
    let done = NEXTEST.command().and_then(|mut command| {
        command.args(ARGS).args(["--profile", "soak", "large_stores_have_small_pages"]);
        command.args(["--success-output", "immediate", "--status-level", "fail"]);
        browser::offer(&mut command, &ARGS.map(str::to_owned))?;
        command.env("FORKLORE_LARGE", "1");
        Ok(command)
    });
    row("pages".into(), start, done)
}

fn fuzz(name: &str) -> Row {
    let start = Instant::now();
    let done = FUZZ.command().and_then(|mut command| {
        let corpus = fuzz_folder().join("corpus").join(name);
        fs::create_dir_all(&corpus)
            .map_err(|source| Failure::Folder { path: corpus.clone(), source })?;
        command.args(["run", "-s", "none", "--target-dir"]).arg(fuzz_folder()).arg(name);
        command.arg(corpus).arg(root().join("fuzz").join("seeds").join(name)).arg("--");
        command.arg(format!("-max_total_time={}", FUZZED.as_secs())).arg("-print_final_stats=1");
        command.args(["-verbosity=0", "-timeout=20", "-rss_limit_mb=4096"]);
        Ok(command)
    });
    row(format!("fuzz {name}"), start, done)
}

/// Checks that each published crate compiles alone, and with each of its features.
fn features() -> Row {
    let start = Instant::now();
    let command = HACK.command().map(|mut command| {
        command.args(["check", "--workspace", "--each-feature", "--ignore-private"]);
        command
    });
    row("features".into(), start, command)
}

/// Runs the tests of the packages for Python and TypeScript, with the longest suites of frameworks.
fn bindings() -> Row {
    let start = Instant::now();
    let command = this().map(|mut command| {
        command.arg("bindings").env("FORKLORE_LONG_SUITES", "1");
        command
    });
    row("bindings".into(), start, command)
}

/// Creates a command that runs a task of this program.
fn this() -> Result<Command, Failure> {
    let this = env::current_exe();
    this.map(program).map_err(|source| Failure::Folder { path: "xtask".into(), source })
}

/// Makes the packages of a release, and installs them in a bare Debian. This comes last, because the
/// program may have to be built for minutes first.
fn packages() -> Row {
    let start = Instant::now();
    let command = this().map(|mut command| {
        command.args(["dist", "--try"]);
        command
    });
    row("packages".into(), start, command)
}

/// Runs a command, if it could be prepared, and returns its row of the table.
fn row(name: String, start: Instant, command: Result<Command, Failure>) -> Row {
    let figures = match command {
        Ok(mut command) => captured(&mut command),
        Err(failure) => Err(vec![failure.to_string()]),
    };
    let verdict = if figures.is_ok() { "ok" } else { "FAILED" };
    let figures = figures.unwrap_or_else(|figures| figures);
    Row { name, verdict, took: start.elapsed(), figures }
}

/// Runs a command that executes tests or a fuzz target. Returns the lines of its output that show
/// counts, such as the number of injected faults. If the command fails, prints its complete output
/// and returns these lines as the error. If it cannot be started, the error is the reason.
fn captured(command: &mut Command) -> Result<Vec<String>, Vec<String>> {
    eprintln!("\n$ {}", command_line(command));
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return Err(vec![error.to_string()]),
    };
    let stderr = [output.stdout, output.stderr].concat();
    let stderr = String::from_utf8_lossy(&stderr);
    let figures = stderr.lines().filter(|line| is_figure(line)).map(|line| line.trim().to_owned());
    let figures: Vec<_> = figures.collect();
    if output.status.success() {
        return Ok(figures);
    }
    eprintln!("{stderr}");
    Err(figures)
}

/// Checks whether an output line of a test or fuzz target shows a count. Recognises such lines by
/// certain words.
fn is_figure(line: &str) -> bool {
    let line = line.trim();
    let words = [
        " copies",
        " faults injected",
        "images by ",
        "golden ",
        " kills",
        " trees ",
        " the first paint",
        " is painted",
    ];
    line.starts_with("stat::number_of_executed_units")
        || (words.iter().any(|word| line.contains(word)) && !line.contains("# Uses"))
}

fn tell(rows: &[Row], took: Duration) {
    println!("\n{:<22} {:<7} {:>7}", "what", "verdict", "took");
    for row in rows {
        println!("{:<22} {:<7} {:>5} s", row.name, row.verdict, row.took.as_secs());
        row.figures.iter().for_each(|figure| println!("    {figure}"));
    }
    println!("\nafter {} s on {} processors", took.as_secs(), processors());
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::is_figure;

    #[test]
    fn figures_are_separated_from_the_fuzzers_other_output() {
        for line in [
            "    bytes of pi: seed 1, 20 files, 8000 copies",
            "360 faults injected:",
            "seed 1: 10000 trees restored",
            "images by what of the unsynced was lost: {Nothing: 13}",
            "page /: 120 ms to the first paint, 900 nodes, 60 kB, longest task 0 ms",
            "fork of long by a click: 90 ms until it is painted",
            "stat::number_of_executed_units: 2183436",
        ] {
            assert!(is_figure(line), "{line}");
        }
        for line in ["\"trackedFi\" # Uses: 48", "test result: ok. 1 passed", "seed 1, 1 rounds"] {
            assert!(!is_figure(line), "{line}");
        }
    }
}
