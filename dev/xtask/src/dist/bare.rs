//! Installs the packages in a bare Debian, which has no Rust: a folder that debootstrap fills, and
//! that is removed afterwards. This needs root, as debootstrap does.

use std::path::Path;

use super::parts::{copy, empty, put, remove};
use crate::command::{Failure, output, program, run};
use crate::{debian, tools};

/// What a bare Debian lacks to check the packages: a reader of manual pages, the shells that complete,
/// and a check of systemd's units.
const WITH: &str = "--include=man-db,zsh,fish,systemd";

/// The commands that are run in the bare Debian.
const COMMANDS: &str = include_str!("installed.sh");

/// Makes a bare Debian, and installs and uses the packages in it.
pub(super) fn install(packages: &Path, archive: &str, package: &str) -> Result<(), Failure> {
    let folder = tools::target().join("bare");
    empty(&folder)?;
    bootstrap(&folder)?;
    let inside = folder.join("packages");
    empty(&inside)?;
    for name in [archive, package, "SHA256SUMS"] {
        copy(&packages.join(name), &inside.join(name))?;
    }
    put(&inside.join("installed.sh"), COMMANDS)?;
    run(program("chroot")
        .arg(&folder)
        .args(["sh", "/packages/installed.sh"])
        .env_clear()
        .env("HOME", "/")
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))?;
    remove(&folder)
}

/// Fills the folder with the smallest Debian, of the release and from the mirror of this machine.
fn bootstrap(folder: &Path) -> Result<(), Failure> {
    let tool = debian::unpacked("debootstrap", &["debootstrap"])?;
    let words = ["indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"];
    let sources = output(program("apt-get").args(words))?;
    let release = output(program("sh").args(["-c", ". /etc/os-release; echo $VERSION_CODENAME"]))?;
    let release = release.trim();
    let mirror = sources.lines().find_map(|line| line.strip_suffix(&format!(" {release}")));
    run(program(tool.join("usr/sbin/debootstrap"))
        .args(["--variant=minbase", WITH, release])
        .arg(folder)
        .args(mirror)
        .env("DEBOOTSTRAP_DIR", tool.join("usr/share/debootstrap")))
}
