//! The archive: a folder to unpack anywhere.

use std::path::Path;

use super::parts::{LICENCES, Parts, VERSION, copy, copy_all, copy_texts};
use crate::command::{Failure, output, program, run};

/// Writes the archive into `out`, and returns its name. Names, owners, permissions and times of what
/// is in it do not depend on the machine.
pub(super) fn write(parts: &Parts, work: &Path, out: &Path) -> Result<String, Failure> {
    let name = format!("forklore-{VERSION}-{}", platform()?);
    let folder = work.join(&name);
    copy_texts(&folder)?;
    copy(&parts.program, &folder.join("forklore"))?;
    copy(&parts.licences, &folder.join(LICENCES))?;
    copy_all(&parts.pages, &folder.join("man").join("man1"))?;
    copy_all(&parts.completions, &folder.join("completions"))?;
    let file = format!("{name}.tar.gz");
    run(program("tar")
        .args(["--create", "--format=ustar", "--sort=name", "--numeric-owner"])
        .args(["--owner=0", "--group=0", "--mode=u=rwX,go=rX"])
        .arg(format!("--mtime=@{}", parts.time))
        // Without the name and the time of the file.
        .args(["--use-compress-program", "gzip -9 --no-name", "--file"])
        .arg(out.join(&file))
        .arg("--directory")
        .arg(work)
        .arg(name))?;
    Ok(file)
}

/// Returns the platform for which the installed compiler builds, such as `x86_64-unknown-linux-gnu`.
fn platform() -> Result<String, Failure> {
    let about = output(program("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or(std::env::consts::ARCH).to_owned())
}
