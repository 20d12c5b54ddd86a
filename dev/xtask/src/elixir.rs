//! Elixir, with which tests run the example for Pixir: the installed one, or else Debian's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Failure, program, run};
use crate::debian;

/// The environment variable that gives tests the path of the program elixir.
const VARIABLE: &str = "FORKLORE_ELIXIR";

/// Makes the program elixir available to the tests that `command` runs. Uses an installed Elixir, or
/// else downloads and unpacks Debian's packages of it.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    let version = program("elixir").arg("--version").stdout(Stdio::null()).status();
    if std::env::var_os(VARIABLE).is_some() || version.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let folder = debian::unpacked_with_needs("elixir")?;
    command.env(VARIABLE, started_from(&folder)?);
    Ok(())
}

/// Returns a program that starts the Elixir that was unpacked into a directory. Debian's own starts
/// Erlang from `/usr/lib/erlang`, where it is not.
fn started_from(folder: &Path) -> Result<PathBuf, Failure> {
    let bin = folder.join("bin");
    let (elixir, erl) = (bin.join("elixir"), bin.join("erl"));
    if elixir.exists() {
        return Ok(elixir);
    }
    let failed = |source| Failure::Folder { path: bin.clone(), source };
    fs::create_dir_all(&bin).map_err(failed)?;
    let root = folder.join("usr/lib/erlang");
    let parts = fs::read_dir(&root).map_err(failed)?.flatten().map(|entry| entry.path());
    let runtime = parts.filter(|path| path.to_string_lossy().contains("/erts-")).max();
    let runtime = runtime.unwrap_or_else(|| root.join("erts"));
    let erlang = format!(
        "#!/bin/sh\nexport ROOTDIR='{}' BINDIR='{}/bin' EMU=beam PROGNAME=erl\n\
         exec \"$BINDIR/erlexec\" \"$@\"\n",
        root.display(),
        runtime.display()
    );
    fs::write(&erl, erlang).map_err(failed)?;
    run(program("chmod").arg("755").arg(&erl))?;
    let start = format!(
        "#!/bin/sh\nexport PATH='{}':\"$PATH\"\nexec '{}/usr/lib/elixir/bin/elixir' \"$@\"\n",
        bin.display(),
        folder.display()
    );
    let aside = bin.join("elixir.new");
    fs::write(&aside, start).map_err(failed)?;
    run(program("chmod").arg("755").arg(&aside))?;
    fs::rename(&aside, &elixir).map_err(failed)?;
    Ok(elixir)
}
