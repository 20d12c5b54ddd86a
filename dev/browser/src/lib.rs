//! Tests from outside: of pages in a real browser, and of an API against its OpenAPI document.
//!
//! A test of a page is a Python file in the folder of the Rust test that runs it. It gets its
//! fixtures from `python/forklore_browser.py`: `page` is a tab of Chromium, in a light and in a dark
//! theme, narrow and wide, which fails the test after an error on the console; `axe` checks
//! accessibility, `fits` that nothing is wider than the window. [`schemathesis`] is for APIs.
//!
//! ```no_run
//! let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notices.py");
//! forklore_browser::passes(tests.as_ref(), &[("FORKLORE_URL", "http://127.0.0.1:8080/")])?;
//! # Ok::<(), forklore_browser::Failed>(())
//! ```
//!
//! `cargo xtask test` installs Chromium from Debian and the Python packages from PyPI, and sets the
//! variables `FORKLORE_CHROMIUM` and [`VARIABLE`]. Playwright downloads no browser of its own.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment variable with the path of a Python that has Playwright, axe, pytest and
/// Schemathesis.
pub const VARIABLE: &str = "FORKLORE_BROWSER_PYTHON";

/// The reason why tests from outside did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The environment variable [`VARIABLE`] is not set.
    #[error(
        "{VARIABLE} does not name a Python that has Playwright\n\
         hint: `cargo xtask test` installs it from PyPI and names it"
    )]
    NotNamed,
    /// The Python could not be started.
    #[error("{VARIABLE}={}: {source}", .python.display())]
    NotStarted {
        /// The path in the variable.
        python: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// At least one test failed. The text is what pytest printed.
    #[error("{}: {printed}", .tests.display())]
    Tests {
        /// The file with the tests.
        tests: PathBuf,
        /// What pytest printed.
        printed: String,
    },
}

/// Runs the tests of a Python file, with environment variables that tell them what to test. Returns
/// what pytest printed: one line for each test.
///
/// # Errors
/// [`Failed::Tests`] if a test fails or there is none; otherwise if Python is not installed.
pub fn passes<V: AsRef<OsStr>>(tests: &Path, variables: &[(&str, V)]) -> Result<String, Failed> {
    let python = python()?;
    // Plug-ins that other packages bring along would only take time to load.
    let options = ["-p", "forklore_browser", "-p", "no:cacheprovider", "--tb=short", "-rA", "-q"];
    let mut command = Command::new(&python);
    command
        .args(["-m", "pytest"])
        .args(options)
        .arg("--rootdir")
        .arg(tests.with_file_name(""))
        .args(["-c", "/dev/null"])
        .arg(tests)
        .env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("PYTEST_ADDOPTS")
        .stdin(Stdio::null());
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let done = command.output().map_err(|source| Failed::NotStarted { python, source })?;
    let printed = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    if done.status.success() {
        Ok(printed)
    } else {
        Err(Failed::Tests { tests: tests.to_path_buf(), printed })
    }
}

/// Returns a command that runs Schemathesis, which derives requests from an OpenAPI document and
/// checks the answers against it. It runs in `folder`, and writes what it finds there. The caller adds
/// the arguments, such as `run URL --max-examples 50`; the exit code is not 0 if an answer is wrong.
///
/// # Errors
/// [`Failed::NotNamed`] if it is not installed.
pub fn schemathesis(folder: &Path) -> Result<Command, Failed> {
    let mut command = Command::new(python()?.with_file_name("schemathesis"));
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("NO_COLOR", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null());
    Ok(command)
}

fn python() -> Result<PathBuf, Failed> {
    env::var_os(VARIABLE).map(PathBuf::from).ok_or(Failed::NotNamed)
}
