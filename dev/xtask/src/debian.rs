//! Programs from Debian packages, unpacked into `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failure, program, run};
use crate::tools::target;

/// Returns the directory with the unpacked contents of Debian packages. Downloads and unpacks the
/// packages if the directory does not exist.
pub(crate) fn unpacked(tool: &'static str, packages: &[&str]) -> Result<PathBuf, Failure> {
    let folder = target().join("tools").join(tool);
    if !folder.exists() {
        let download = |aside: &Path| {
            let words = ["download", "--quiet"];
            run(program("apt-get").args(words).args(packages).current_dir(aside))
        };
        unpack(&folder, download).map_err(|source| Failure::NoTool {
            tool,
            by_hand: format!("apt-get install {tool}"),
            source: Box::new(source),
        })?;
    }
    Ok(folder)
}

/// Returns the directory with the unpacked contents of a Debian package and of the packages that it
/// needs and that are not installed. Downloads and unpacks them if the directory does not exist.
pub(crate) fn unpacked_with_needs(tool: &'static str) -> Result<PathBuf, Failure> {
    let folder = target().join("tools").join(tool);
    if !folder.exists() {
        let download = |aside: &Path| {
            let archives = format!("Dir::Cache::archives={}", aside.display());
            let words =
                ["install", "--quiet", "--yes", "--download-only", "--no-install-recommends"];
            // Nothing is installed, so the lock of the installed packages is not needed.
            let options = ["-o", "Debug::NoLocking=1", "-o", &archives, tool];
            run(program("apt-get").args(words).args(options))
        };
        unpack(&folder, download).map_err(|source| Failure::NoTool {
            tool,
            by_hand: format!("apt-get install {tool}"),
            source: Box::new(source),
        })?;
    }
    Ok(folder)
}

/// Downloads and unpacks Debian packages into a temporary directory, and renames that directory to
/// `folder`. An interrupted download thus leaves no incomplete tool. No root privileges are needed,
/// except on a system whose package lists were never updated.
fn unpack(folder: &Path, download: impl Fn(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let aside = folder.with_extension("partial");
    let unusable = |source| Failure::Folder { path: aside.clone(), source };
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(unusable)?;
    }
    // apt-get expects the folder `partial` in its folder of archives.
    fs::create_dir_all(aside.join("partial")).map_err(unusable)?;
    download(&aside).or_else(|_| {
        run(program("apt-get").args(["update", "--quiet"])).and_then(|()| download(&aside))
    })?;
    for package in files(&aside).map_err(unusable)? {
        run(program("dpkg").arg("--extract").arg(package).arg(&aside))?;
    }
    fs::rename(&aside, folder).map_err(unusable)
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.path()));
    let files: std::io::Result<Vec<_>> = files.collect();
    Ok(files?.into_iter().filter(|file| file.extension().is_some_and(|end| end == "deb")).collect())
}
