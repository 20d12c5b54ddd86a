//! Starts, times and watches other programs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};

/// The interval at which the memory of a watched program is sampled.
const LOOK: Duration = Duration::from_micros(500);

/// A program to run and measure. A run fails if the exit code is not 0. Then the error message
/// includes the program's standard error, which goes to a file.
pub(crate) struct Program {
    path: PathBuf,
    dir: PathBuf,
    errors: PathBuf,
    /// The beginning of a command line that starts the program, such as `taskset --cpu-list 0`.
    /// Empty if the program is started directly.
    by: Vec<&'static str>,
}

/// The measurements of a program that ran to its end: duration, memory and processor time.
pub(crate) struct Ended {
    pub(crate) took: Duration,
    /// The peak anonymous memory of the program in bytes, without mapped files.
    pub(crate) anonymous: Option<u64>,
    /// The processor time of the program, with a resolution of 10 ms.
    pub(crate) worked: Option<Duration>,
}

impl Program {
    /// Returns the program `forklore`, which must be in the same directory as this executable. The
    /// program will run with the working directory `dir`.
    pub(crate) fn forklore(dir: &Path) -> Result<Self> {
        let own = Self::itself(dir)?.path;
        let path = own.with_file_name(format!("forklore{}", std::env::consts::EXE_SUFFIX));
        if path.exists() {
            return Ok(Self { path, ..Self::itself(dir)? });
        }
        Err(Error::Wrong(format!("{} is not there; build it first", path.display())))
    }

    /// Returns the running program itself, to be started once more with the working directory
    /// `dir`.
    pub(crate) fn itself(dir: &Path) -> Result<Self> {
        let path = std::env::current_exe().doing("cannot find", Path::new("this program"))?;
        let path = path.canonicalize().doing("cannot find", &path)?;
        let dir = dir.canonicalize().doing("cannot find", dir)?;
        Ok(Self { path, errors: dir.join("standard-error"), dir, by: Vec::new() })
    }

    /// Restricts the program to one processor, if `taskset` works on this machine.
    pub(crate) fn on_one_core(mut self) -> Self {
        let by = ["taskset", "--cpu-list", "0"];
        let works = Command::new(by[0]).args(&by[1..]).arg("true").stderr(Stdio::null()).status();
        if works.is_ok_and(|status| status.success()) {
            self.by = by.to_vec();
        }
        self
    }

    /// Checks whether the program is restricted to one processor.
    pub(crate) fn is_on_one_core(&self) -> bool {
        !self.by.is_empty()
    }

    /// Runs the program to its end, and returns the duration.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Duration> {
        let start = Instant::now();
        let status = self.start(args, Stdio::null())?.wait().doing("cannot run", &self.path)?;
        let took = start.elapsed();
        self.check(args, status).map(|()| took)
    }

    /// Runs the program until its first line of output and returns the duration. Then closes the
    /// pipe, so that the program ends.
    pub(crate) fn first_line(&self, args: &[&str]) -> Result<Duration> {
        let start = Instant::now();
        let mut child = self.start(args, Stdio::piped())?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).doing("cannot read", &self.path)?;
        }
        let took = start.elapsed();
        let status = child.wait().doing("cannot run", &self.path)?;
        if line.is_empty() && status.success() {
            return Err(Error::Wrong(format!("`{}` answered nothing", self.command_line(args))));
        }
        self.check(args, status).map(|()| took)
    }

    /// Runs the program to its end, and samples its memory use meanwhile. Returns the measurements.
    pub(crate) fn watched(&self, args: &[&str]) -> Result<Ended> {
        let start = Instant::now();
        let mut child = self.start(args, Stdio::null())?;
        let mut anonymous = None;
        // The system reports the processor time of an ended process until the process is reaped.
        while !has_ended(child.id()) {
            anonymous = anonymous.max(anonymous_memory(child.id()));
            sleep(LOOK);
        }
        let took = start.elapsed();
        let worked = worked(child.id());
        let status = child.wait().doing("cannot run", &self.path)?;
        self.check(args, status).map(|()| Ended { took, anonymous, worked })
    }

    /// Starts the program. Nothing in its environment refers to the user's own store.
    pub(crate) fn start(&self, args: &[&str], output: Stdio) -> Result<Child> {
        let errors = File::options().create(true).append(true).open(&self.errors);
        let mut words = self.by.iter().map(Path::new).chain([&*self.path]);
        let child = Command::new(words.next().unwrap_or(&self.path))
            .args(words)
            .args(args)
            .current_dir(&self.dir)
            .env("HOME", &self.dir)
            .env_remove("FORKLORE_STORE")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors.doing("cannot write", &self.errors)?)
            .spawn();
        child.doing("cannot start", &self.path)
    }

    pub(crate) fn check(&self, args: &[&str], status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        let errors = fs::read_to_string(&self.errors).unwrap_or_default();
        Err(Error::Program { command: self.command_line(args), status, output: errors })
    }

    fn command_line(&self, args: &[&str]) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        std::iter::once(&*name).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
    }
}

/// Checks whether a process has ended and waits to be reaped. Also returns true if the system has
/// no information about the process.
fn has_ended(process: u32) -> bool {
    fields(process).is_none_or(|fields| fields.starts_with('Z'))
}

/// Returns the processor time of a process: its user time and system time together, with a
/// resolution of 10 ms. `None` if the system does not report it.
pub(crate) fn worked(process: u32) -> Option<Duration> {
    let fields = fields(process)?;
    let mut ticks = fields.split(' ').skip(11).map_while(|field| field.parse::<u64>().ok());
    // Linux counts hundredths of a second on every machine.
    Some(Duration::from_millis(10 * (ticks.next()? + ticks.next()?)))
}

/// Returns the fields of `/proc/PID/stat`, from the process state on.
fn fields(process: u32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The process name in front of these fields may contain anything. It ends with the last
    // bracket.
    Some(line.rsplit_once(") ")?.1.to_owned())
}

/// Returns the anonymous memory (`RssAnon`) of a process in bytes. Returns `None` if the system
/// does not report it.
pub(crate) fn anonymous_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}
