//! Runs other programs. Prints each command before it starts.

use std::collections::VecDeque;
use std::env;
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The cargo arguments that select every crate with all features. Tests, lints and documentation
/// share this selection, so that each can reuse the build of the others.
pub(crate) const EVERYTHING: [&str; 2] = ["--all-features", "--workspace"];

/// The cargo arguments that add one small test to a build. With a test among its targets, cargo
/// enables the features that tests need of the dependencies, so that nothing is compiled again that
/// `cargo xtask test` has compiled.
pub(crate) const AS_FOR_TESTS: [&str; 2] = ["--test", "envelope"];

/// How many lines of the output of a failed command are remembered.
const LAST_LINES: usize = 200;

/// A process that a command left behind may hold the command's output open. After the command has
/// ended, it is waited for as long as it writes at least one line in this time.
const SILENCE: Duration = Duration::from_secs(1);

/// The reason why a task of `cargo xtask` failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command could not be started.
    NotStarted { command: String, source: io::Error },
    /// The command ended with an error. It printed the error itself. `last_lines` is the end of its
    /// output, and empty if the output went to a terminal.
    Ended { command: String, status: ExitStatus, last_lines: String },
    /// A tool that the task needs is not installed, and downloading it failed. `by_hand` is the
    /// command that installs it.
    NoTool { tool: &'static str, by_hand: String, source: Box<Failure> },
    /// A directory could not be prepared, or a file could not be read or written.
    Folder { path: PathBuf, source: io::Error },
    /// The instruction count of a measured operation differs from the baseline by more than `band`
    /// percent.
    Cost { band: u64 },
    /// The public API of the crate `forklore` differs from its listing in the repository.
    Api,
    /// The listing of the public API cannot be written: this compiler's rustdoc writes JSON in a
    /// format that is not supported.
    ApiForm,
    /// The arguments of the task are invalid.
    Usage { hint: &'static str },
    /// At least one of several checks failed. `failed` contains the names of the failed checks.
    Checks { failed: Vec<&'static str> },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { command, source } => write!(f, "cannot start `{command}`: {source}"),
            Self::Ended { command, status, .. } => write!(f, "`{command}` failed: {status}"),
            Self::NoTool { tool, by_hand, source } => {
                write!(f, "{source}\nhint: install {tool} by hand: {by_hand}")
            }
            Self::Folder { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Cost { band } => write!(
                f,
                "an instruction count changed by more than {band} %\n\
                 hint: if that is meant, retain the new counts: cargo xtask cost --write"
            ),
            Self::Api => f.write_str(
                "the public API of the crate forklore has changed\n\
                 hint: if that is meant, retain the new one: cargo xtask api --write",
            ),
            Self::ApiForm => {
                f.write_str("this compiler cannot write docs/reference/public-api.txt")
            }
            Self::Usage { hint } => write!(f, "usage: {hint}"),
            Self::Checks { failed } => write!(f, "failed: {}", failed.join(", ")),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotStarted { source, .. } | Self::Folder { source, .. } => Some(source),
            Self::NoTool { source, .. } => Some(source),
            Self::Ended { .. }
            | Self::Cost { .. }
            | Self::Api
            | Self::ApiForm
            | Self::Usage { .. }
            | Self::Checks { .. } => None,
        }
    }
}

/// Returns the root directory of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// Creates a command that runs in the root directory of the workspace, without standard input.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Creates a command that runs cargo. If cargo started this program, uses the same cargo.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Prints the command, runs it, and waits until it ends. Its output goes where that of this program
/// goes, whatever the command says about it. Fails if the command fails.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = command_line(command);
    eprintln!("\n$ {shown}");
    let ended = if io::stderr().is_terminal() {
        command.status().map(|status| (status, String::new()))
    } else {
        run_and_remember(command)
    };
    match ended {
        Ok((status, _)) if status.success() => Ok(()),
        Ok((status, last_lines)) => Err(Failure::Ended { command: shown, status, last_lines }),
        Err(source) => Err(Failure::NotStarted { command: shown, source }),
    }
}

/// Runs a command, passes its output on, and returns the last lines of it.
fn run_and_remember(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (sender, lines) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || each_line(output, |line| sender.send((false, line)).is_ok()));
    }
    if let Some(errors) = child.stderr.take() {
        thread::spawn(move || each_line(errors, |line| sender.send((true, line)).is_ok()));
    }
    let mut last_lines = VecDeque::with_capacity(LAST_LINES);
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok((is_error, line)) => {
                if is_error {
                    eprintln!("{line}");
                } else {
                    println!("{line}");
                }
                last_lines.truncate(LAST_LINES - 1);
                last_lines.push_front(line);
            }
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_none() => {}
            Err(_) => break,
        }
    }
    let last_lines: Vec<_> = last_lines.into_iter().rev().collect();
    Ok((child.wait()?, last_lines.join("\n")))
}

/// Calls `send` with each line until it returns `false`.
fn each_line(text: impl Read, send: impl Fn(String) -> bool) {
    let lines = BufReader::new(text).split(b'\n').map_while(Result::ok);
    let mut lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    while lines.next().is_some_and(&send) {}
}

/// Runs a command and returns its standard output. Does not print the command. Fails if the command
/// fails.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let shown = command_line(command);
    match command.stderr(Stdio::inherit()).output() {
        Ok(text) if text.status.success() => Ok(String::from_utf8_lossy(&text.stdout).into_owned()),
        Ok(text) => {
            Err(Failure::Ended { command: shown, status: text.status, last_lines: String::new() })
        }
        Err(source) => Err(Failure::NotStarted { command: shown, source }),
    }
}

/// Formats the command as a user would type it. For example, `cargo-nextest nextest` becomes `cargo
/// nextest`.
pub(crate) fn command_line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy();
    let name = if name.starts_with("cargo-") { "cargo".into() } else { name };
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::{LAST_LINES, program, run_and_remember};

    #[test]
    fn the_last_lines_of_a_failed_command_are_remembered() {
        let line = format!("seq 1 {}; exit 3", 2 * LAST_LINES);
        let (status, lines) = run_and_remember(program("sh").args(["-c", &line])).unwrap();
        let expected: Vec<_> = (LAST_LINES + 1..=2 * LAST_LINES).map(|it| it.to_string()).collect();
        assert_eq!((status.code(), lines), (Some(3), expected.join("\n")));
    }

    #[test]
    fn a_command_has_ended_though_a_process_that_it_left_behind_still_runs() {
        let left = "sleep 1000 & echo $! >&2";
        let (status, process) = run_and_remember(program("sh").args(["-c", left])).unwrap();
        assert!(status.success());
        let ended = program("kill").arg(process).status().unwrap();
        assert!(ended.success(), "the process had ended");
    }
}
