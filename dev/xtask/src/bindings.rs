//! `cargo xtask bindings`: builds and tests the packages for Python and TypeScript.

mod python;
pub(crate) mod typescript;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{AS_FOR_TESTS, EVERYTHING, Failure, cargo, run};
use crate::tools::target;

const USAGE: &str = "cargo xtask bindings [python [ARGS] | typescript [ARGS]]";

/// Builds the native modules, and tests one package or both. Further arguments go to pytest, or are
/// the test files of `node --test`.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    match args.split_first() {
        None => {
            build()?;
            python::test(&[])?;
            typescript::test(&[])
        }
        Some((package, rest)) if package == "python" => {
            build()?;
            python::test(rest)
        }
        Some((package, rest)) if package == "typescript" => {
            build()?;
            typescript::test(rest)
        }
        Some(_) => Err(Failure::Usage { hint: USAGE }),
    }
}

/// Installs what the tests of both packages use, unless it is there.
pub(crate) fn install() -> Result<(), Failure> {
    python::installed()?;
    typescript::Npm::installed()?.install()
}

/// Builds the native modules. The whole workspace is selected, so that the crates below them are those
/// of the tests.
fn build() -> Result<(), Failure> {
    let modules = ["build", "--lib", "--bin", "forklore"];
    run(cargo().args(modules).args(EVERYTHING).args(AS_FOR_TESTS))?;
    put("forklore_python", &python::folder().join("forklore/_native.abi3.so"))?;
    put("forklore_node", &typescript::folder().join("forklore.node"))
}

/// Copies a native module from cargo's target directory to where its package loads it.
fn put(library: &str, to: &Path) -> Result<(), Failure> {
    let name = format!("{}{library}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let built = target().join("debug").join(name);
    // A process that has the old module loaded goes on with it.
    let aside = to.with_extension("new");
    fs::copy(&built, &aside).map_err(|source| Failure::Folder { path: built, source })?;
    fs::rename(&aside, to).map_err(|source| Failure::Folder { path: to.to_owned(), source })
}

/// Returns the program, which tests compare with the packages.
fn program_path() -> PathBuf {
    target().join("debug").join("forklore").with_extension(env::consts::EXE_EXTENSION)
}
