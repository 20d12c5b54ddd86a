//! The JSON that rustdoc makes of the crate `forklore` and of the crates that it re-exports.
//!
//! A stable rustdoc makes it only with `RUSTC_BOOTSTRAP=1`. The build scripts of several crates run
//! again when this variable changes, and then nearly everything is compiled again. So cargo does
//! not get the variable: it runs this program in place of rustdoc, which sets it and runs rustdoc.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::{Failure, cargo, output, run};
use crate::tools::target;

/// The variable that tells this program to run as rustdoc, and the path of the real one.
const VARIABLE: &str = "FORKLORE_XTASK_RUSTDOC";

/// Makes the JSON and returns its directory.
pub(super) fn document() -> Result<PathBuf, Failure> {
    let this = env::current_exe()
        .map_err(|source| Failure::NotStarted { command: "xtask".into(), source })?;
    let mut command = cargo();
    command.args(["doc", "--no-deps", "--lib", "--all-features"]);
    for name in crates()? {
        command.args(["--package", &name]);
    }
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    command.env(VARIABLE, rustdoc).env("RUSTDOC", this);
    run(command.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json"))?;
    Ok(target().join("doc"))
}

/// Returns the crate `forklore` and the crates of this workspace that it uses.
fn crates() -> Result<Vec<String>, Failure> {
    let tree = ["tree", "--package", "forklore", "--all-features", "--edges", "normal"];
    let tree = output(cargo().args(tree).args(["--depth", "1", "--prefix", "none"]))?;
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    Ok(names.filter(|name| name.starts_with("forklore")).map(str::to_owned).collect())
}

/// Returns the version of the format of a file, which is at its end.
pub(super) fn format(path: &Path) -> Result<Option<u32>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::Folder { path: path.to_path_buf(), source })?;
    Ok(version(&text))
}

fn version(json: &str) -> Option<u32> {
    let (_, version) = json.rsplit_once("\"format_version\":")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Runs rustdoc with the arguments of this program, if cargo runs this program in its place.
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
    fn the_version_is_at_the_end() {
        let json = r#"{"docs":"\"format_version\":1","format_version":57}"#;
        assert_eq!((version(json), version("{}")), (Some(57), None));
    }
}
