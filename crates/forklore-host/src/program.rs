//! Looks for the programs that the host starts.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The folders in which the C libraries search for a program if the variable `PATH` is not set.
const WITHOUT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Checks whether a program can be started: a path, or a name that is searched in `PATH`.
#[must_use]
pub fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| WITHOUT_PATH.into());
    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
