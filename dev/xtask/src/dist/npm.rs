//! The npm packages: the package with the code, and the package of this platform with the native module
//! and the program.

use std::env;
use std::path::{Path, PathBuf};

use super::parts::{LICENCES, LICENCES_OF_FORKLORE, Parts, VERSION, copy, copy_texts, empty, put};
use crate::bindings::typescript::{self, Npm};
use crate::command::{Failure, cargo, program, root, run};
use crate::tools::target;

/// The platforms on which the program runs, as npm names them. macOS is not tested.
const PLATFORMS: [&str; 4] = ["darwin-arm64", "darwin-x64", "linux-arm64-gnu", "linux-x64-gnu"];

/// Builds both packages into the folder `out`.
pub(super) fn write(parts: &Parts, profile: &str, work: &Path, out: &Path) -> Result<(), Failure> {
    let words = ["build", "--locked", "-p", "forklore-node", "--profile", profile];
    run(cargo().args(words))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let name = format!("{}forklore_node{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let platform = work.join("npm");
    empty(&platform)?;
    copy_texts(&platform)?;
    copy(&target().join(folder).join(name), &platform.join("forklore.node"))?;
    run(program("strip").arg("--strip-unneeded").arg(platform.join("forklore.node")))?;
    copy(&parts.program, &platform.join("forklore"))?;
    copy(&parts.licences, &platform.join(LICENCES))?;
    put(&platform.join("package.json"), &manifest())?;
    let npm = Npm::installed()?;
    npm.prepare()?;
    let package = with_platforms(&npm, work)?;
    [package, platform].iter().try_for_each(|folder| pack(&npm, folder, out))
}

/// Returns a copy of the package with the code that names the packages of all platforms. The package in
/// the repository does not, because npm looks for them in the registry whenever it installs.
fn with_platforms(npm: &Npm, work: &Path) -> Result<PathBuf, Failure> {
    let unpacked = work.join("code");
    empty(&unpacked)?;
    pack(npm, &typescript::folder(), &unpacked)?;
    let archive = unpacked.join(format!("forklore-{VERSION}.tgz"));
    run(program("tar").arg("xzf").arg(archive).arg("-C").arg(&unpacked))?;
    let package = unpacked.join("package");
    let dependencies =
        PLATFORMS.map(|name| format!("optionalDependencies[@forklore/{name}]={VERSION}"));
    run(npm.command(&["pkg", "set"]).args(dependencies).current_dir(&package))?;
    for text in LICENCES_OF_FORKLORE {
        copy(&root().join(text), &package.join(text))?;
    }
    Ok(package)
}

/// Packs a folder into the folder `out`.
fn pack(npm: &Npm, folder: &Path, out: &Path) -> Result<(), Failure> {
    let words = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
    run(npm.command(&words).arg(out).current_dir(folder))
}

/// Returns the manifest of the package of this platform.
fn manifest() -> String {
    let (os, cpu) = platform();
    let libc = if os == "linux" { "\n  \"libc\": [\"glibc\"]," } else { "" };
    format!(
        "{{\n  \"name\": \"{}\",\n  \"version\": \"{VERSION}\",\n  \"description\": \"The native module and the \
         program of forklore for {os} on {cpu}\",\n  \"license\": \"MIT OR Apache-2.0\",\n  \"os\": \
         [\"{os}\"],\n  \"cpu\": [\"{cpu}\"],{libc}\n  \"main\": \"forklore.node\"\n}}\n",
        name()
    )
}

/// Returns the name of the package of this platform.
fn name() -> String {
    let (os, cpu) = platform();
    let libc = if os == "linux" { "-gnu" } else { "" };
    format!("@forklore/{os}-{cpu}{libc}")
}

/// Returns the operating system and the processor, as Node.js names them.
fn platform() -> (&'static str, &'static str) {
    let os = match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        os => os,
    };
    let cpu = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        cpu => cpu,
    };
    (os, cpu)
}
