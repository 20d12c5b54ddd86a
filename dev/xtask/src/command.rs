//! Runs other programs. Prints each command before it starts.

use std::env;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The reason why a task of `cargo xtask` failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command could not be started.
    NotStarted { command: String, source: io::Error },
    /// The command ended with an error. It printed the error itself.
    Ended { command: String, status: ExitStatus },
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
            Self::Ended { command, status } => write!(f, "`{command}` failed: {status}"),
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

/// Prints the command, runs it, and waits until it ends. Fails if the command fails.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = command_line(command);
    eprintln!("\n$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Ended { command: shown, status }),
        Err(source) => Err(Failure::NotStarted { command: shown, source }),
    }
}

/// Runs a command and returns its standard output. Does not print the command. Fails if the command
/// fails.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let shown = command_line(command);
    match command.stderr(Stdio::inherit()).output() {
        Ok(text) if text.status.success() => Ok(String::from_utf8_lossy(&text.stdout).into_owned()),
        Ok(text) => Err(Failure::Ended { command: shown, status: text.status }),
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
