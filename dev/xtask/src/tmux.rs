//! tmux, in which tests type at a terminal: the one that is installed, else Debian's.

use std::process::{Command, Stdio};

use crate::command::{Failure, program};
use crate::debian;

/// The variable that names it to the tests.
const VARIABLE: &str = "FORKLORE_TMUX";
/// What it needs beside what every system has.
const PACKAGES: [&str; 4] = ["tmux", "libevent-core-2.1-7", "libutempter0", "libtinfo6"];

/// Lets the tests that a command runs find it.
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
