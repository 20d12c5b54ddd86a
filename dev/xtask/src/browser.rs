//! What tests from outside use (`dev/browser`): Playwright and axe-core for pages in Chromium, pytest,
//! and Schemathesis for an API. They are installed in a separate Python environment.

use std::env;
use std::process::Command;

use crate::command::Failure;
use crate::{chromium, venv};

/// The wheel of Playwright has no browser, and `playwright install` never runs: the browser is
/// Debian's.
const WHEELS: [&str; 4] =
    ["playwright==1.65.2", "axe-playwright-python==0.1.8", "pytest==9.2.0", "schemathesis==4.32.5"];

/// The environment variable that gives tests the path of a Python with these packages.
const VARIABLE: &str = "FORKLORE_BROWSER_PYTHON";

/// The crates whose tests use `dev/browser`.
const CRATES: [&str; 3] = ["forklore-browser", "forklore-cli", "forklore-server"];

/// Makes Chromium available to the tests that `command` runs, and the Python packages if the
/// arguments for nextest may select a test that uses them.
pub(crate) fn offer(command: &mut Command, args: &[String]) -> Result<(), Failure> {
    chromium::offer(command)?;
    if env::var_os(VARIABLE).is_none() && is_selected(args) {
        command.env(VARIABLE, venv::installed("browser", &WHEELS)?);
    }
    Ok(())
}

/// Checks whether the arguments select one of the crates, or no crate and thereby all of them.
fn is_selected(args: &[String]) -> bool {
    let mut names = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.split_once('=').unwrap_or((arg, "")) {
            ("-p" | "--package", "") => names.extend(rest.next().map(String::as_str)),
            ("-p" | "--package", name) => names.push(name),
            (joined, _) => names.extend(joined.strip_prefix("-p")),
        }
    }
    names.is_empty() || names.iter().any(|name| CRATES.contains(name))
}

#[cfg(test)]
mod tests {
    use super::is_selected;

    #[test]
    fn packages_are_installed_for_the_crates_that_use_them() {
        let selected = |line: &str| {
            is_selected(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        for line in
            ["", "fork", "-p forklore-cli", "--package=forklore-browser x", "-pforklore-cli"]
        {
            assert!(selected(line), "{line}");
        }
        for line in ["-p forklore-core", "fork --package forklore-sqlite", "-pforklore-core"] {
            assert!(!selected(line), "{line}");
        }
    }
}
