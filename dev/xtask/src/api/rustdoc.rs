//! Creates rustdoc's JSON for all crates, among them those that `forklore` re-exports.
//!
//! A stable rustdoc writes JSON only if `RUSTC_BOOTSTRAP=1` is set. When this variable changes, the
//! build scripts of several crates run again, and nearly everything is compiled again. Therefore
//! cargo does not get the variable. Cargo runs this program instead of rustdoc, and this program
//! sets the variable and runs rustdoc.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::{EVERYTHING, Failure, cargo, run};
use crate::tools::target;

/// If this environment variable is set, this program acts as rustdoc. The value is the path of the
/// real rustdoc.
const VARIABLE: &str = "FORKLORE_XTASK_RUSTDOC";

/// Creates rustdoc's JSON files of the public API and returns their directory.
pub(super) fn document() -> Result<PathBuf, Failure> {
    let this = env::current_exe()
        .map_err(|source| Failure::NotStarted { command: "xtask".into(), source })?;
    let this = current(&this);
    let mut command = cargo();
    // The other crates are documented too, so that the dependencies have the features of `cargo xtask
    // ci`'s documentation and are not checked again.
    command.args(["doc", "--no-deps", "--lib"]).args(EVERYTHING);
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    command.env(VARIABLE, rustdoc).env("RUSTDOC", this);
    run(command.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json"))?;
    Ok(target().join("doc"))
}

/// Returns the path of the newest build of this program: `running` without the suffix ` (deleted)`.
/// Linux appends this suffix if a check of `cargo xtask ci` builds this program again while it
/// runs.
fn current(running: &Path) -> &Path {
    let replaced = running.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    replaced.map_or(running, Path::new)
}

/// Returns the version of the JSON format in which rustdoc wrote the file `path`. The version is at
/// the end of the file. Returns `None` if the file has no version.
pub(super) fn format(path: &Path) -> Result<Option<u32>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::Folder { path: path.to_path_buf(), source })?;
    Ok(version(&text))
}

fn version(json: &str) -> Option<u32> {
    let (_, version) = json.rsplit_once("\"format_version\":")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Runs the real rustdoc with the arguments of this program, if cargo started this program instead
/// of rustdoc. Otherwise does nothing and returns `None`.
pub(crate) fn pass_on() -> Option<ExitCode> {
    let rustdoc = env::var_os(VARIABLE)?;
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let status = Command::new(&rustdoc).args(args).env("RUSTC_BOOTSTRAP", "1").status();
    let code = match status {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
        Err(error) => {
            eprintln!("xtask: cannot start {}: {error}", rustdoc.display());
            1
        }
    };
    Some(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_built_again_is_found() {
        for running in ["/target/debug/xtask", "/target/debug/xtask (deleted)"] {
            assert_eq!(current(Path::new(running)), Path::new("/target/debug/xtask"));
        }
    }

    #[test]
    fn the_version_is_at_the_end() {
        let json = r#"{"docs":"\"format_version\":1","format_version":57}"#;
        assert_eq!((version(json), version("{}")), (Some(57), None));
    }
}
