//! Valgrind: the installed one, or else Debian's.

use std::process::{Command, Stdio};

use crate::command::{Failure, program};
use crate::debian;

/// Creates a command that runs Valgrind: the installed one, or else one that is downloaded from
/// Debian. The caller adds the arguments.
pub(crate) fn command() -> Result<Command, Failure> {
    let version = program("valgrind").arg("--version").stdout(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return Ok(program("valgrind"));
    }
    let folder = debian::unpacked("valgrind", &["valgrind"])?;
    let mut command = program(folder.join("usr").join("bin").join("valgrind"));
    command.env("VALGRIND_LIB", folder.join("usr").join("libexec").join("valgrind"));
    Ok(command)
}
