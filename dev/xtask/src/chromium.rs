//! Chromium, in which tests open pages: the installed one, or else Debian's.

use std::process::{Command, Stdio};

use crate::command::{Failure, program};
use crate::debian;

/// The environment variable that gives tests the path of the program.
const VARIABLE: &str = "FORKLORE_CHROMIUM";
/// The environment variable with the directories of the libraries that the program needs.
const LIBRARIES: &str = "FORKLORE_CHROMIUM_LIBRARIES";

/// Makes the program chromium available to the tests that `command` runs. Uses an installed
/// Chromium, or else downloads and unpacks Debian's packages of it.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    let version = program("chromium").arg("--version").stdout(Stdio::null()).status();
    if std::env::var_os(VARIABLE).is_some() || version.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let folder = debian::unpacked_with_needs("chromium")?.join("usr").join("lib");
    command.env(VARIABLE, folder.join("chromium").join("chromium"));
    let libraries = folder.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let further = libraries.join("pulseaudio");
    command.env(LIBRARIES, format!("{}:{}", libraries.display(), further.display()));
    Ok(())
}
