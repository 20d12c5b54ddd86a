//! Valgrind: the one that is installed, else Debian's package, unpacked into `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Failure, program, run};
use crate::tools::target;

/// A command that runs it.
pub(crate) fn command() -> Result<Command, Failure> {
    let version = program("valgrind").arg("--version").stdout(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return Ok(program("valgrind"));
    }
    let folder = target().join("tools").join("valgrind");
    if !folder.exists() {
        unpack(&folder).map_err(|source| Failure::NoTool {
            tool: "valgrind",
            by_hand: "apt-get install valgrind".into(),
            source: Box::new(source),
        })?;
    }
    let mut command = program(folder.join("usr").join("bin").join("valgrind"));
    command.env("VALGRIND_LIB", folder.join("usr").join("libexec").join("valgrind"));
    Ok(command)
}

/// Unpacks into a folder aside and renames it, so that a killed fetch leaves no half tool. That
/// needs no rights; only a system that has never asked which packages there are has to ask first.
fn unpack(folder: &Path) -> Result<(), Failure> {
    let aside = folder.with_extension("partial");
    let unusable = |source| Failure::Folder { path: aside.clone(), source };
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(unusable)?;
    }
    fs::create_dir_all(&aside).map_err(unusable)?;
    let download =
        || run(program("apt-get").args(["download", "--quiet", "valgrind"]).current_dir(&aside));
    download().or_else(|_| {
        run(program("apt-get").args(["update", "--quiet"])).and_then(|()| download())
    })?;
    for package in packages(&aside).map_err(unusable)? {
        run(program("dpkg").arg("--extract").arg(package).arg(&aside))?;
    }
    fs::rename(&aside, folder).map_err(unusable)
}

fn packages(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.path()));
    let files: std::io::Result<Vec<_>> = files.collect();
    Ok(files?.into_iter().filter(|file| file.extension().is_some_and(|end| end == "deb")).collect())
}
