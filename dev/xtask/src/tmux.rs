//! tmux, with which tests control a terminal: the installed one, or else Debian's.

use std::process::{Command, Stdio};

use crate::command::{Failure, program};
use crate::debian;

/// The environment variable that gives tests the path of the program tmux.
const VARIABLE: &str = "FORKLORE_TMUX";
/// The Debian packages to unpack: tmux, and the libraries of tmux that some systems lack.
const PACKAGES: [&str; 4] = ["tmux", "libevent-core-2.1-7", "libutempter0", "libtinfo6"];

/// Makes the program tmux available to the tests that `command` runs. Uses an installed tmux, or
/// else downloads and unpacks Debian's packages of it.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    let version = program("tmux").arg("-V").stdout(Stdio::null()).status();
    if std::env::var_os(VARIABLE).is_some() || version.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let folder = debian::unpacked("tmux", &PACKAGES)?.join("usr");
    command.env(VARIABLE, folder.join("bin").join("tmux"));
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    command.env("LD_LIBRARY_PATH", folder.join("lib").join(machine));
    Ok(())
}
