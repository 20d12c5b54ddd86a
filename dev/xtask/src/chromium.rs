//! Chromium, in which tests open pages: the installed one, or else Debian's.

use std::env;
use std::process::{Command, Stdio};

use crate::command::{Failure, program};
use crate::debian;

/// The environment variable that gives tests the path of the program.
const VARIABLE: &str = "FORKLORE_CHROMIUM";
/// The environment variable with the directories of the libraries that the program needs.
const LIBRARIES: &str = "FORKLORE_CHROMIUM_LIBRARIES";
/// The names under which systems install it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Makes the program chromium available to the tests that `command` runs. Uses an installed
/// Chromium, or else downloads and unpacks Debian's packages of it.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    if env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    if let Some(name) = NAMES.into_iter().find(|name| is_installed(name)) {
        command.env(VARIABLE, name);
        return Ok(());
    }
    let folder = debian::unpacked_with_needs("chromium")?.join("usr").join("lib");
    command.env(VARIABLE, folder.join("chromium").join("chromium"));
    let libraries = folder.join(format!("{}-linux-gnu", env::consts::ARCH));
    let further = libraries.join("pulseaudio");
    command.env(LIBRARIES, format!("{}:{}", libraries.display(), further.display()));
    Ok(())
}

fn is_installed(name: &str) -> bool {
    let version =
        program(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}
